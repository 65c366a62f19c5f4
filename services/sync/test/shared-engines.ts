import { TestEngines } from './test-engines.ts';

let opening: Promise<TestEngines> | undefined;

/**
 * Four replicas for all files of a process that make people and workspaces of their own, count nothing of others, and change
 * neither the log nor the engines. Opening them takes as long as a test.
 */
export function sharedEngines(): Promise<TestEngines> {
  return (opening ??= TestEngines.open('shared', 4));
}

/** With a workspace and its owner. */
export async function sharedWithOwner(): ReturnType<TestEngines['newWorkspace']> {
  return (await sharedEngines()).newWorkspace();
}

after(async () => (await opening)?.[Symbol.asyncDispose]());
