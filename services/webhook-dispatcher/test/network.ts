import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { AttemptResult } from '../src/domain/attempt.ts';
import type { DnsAnswer } from './dns-server.ts';

/** Where consumers are, and addresses that no attempt may go to. */
export interface Network {
  readonly publicAddress: string;
  /** Of the other family, where the network has one. */
  readonly otherPublicAddress: string;
  /** Each has a listener that reports every connection. */
  readonly privateAddresses: readonly string[];
  readonly port: number;
}

/** Attempts in turn, while names resolve so. */
export interface Scene {
  readonly names: Readonly<Record<string, readonly DnsAnswer[]>>;
  readonly urls: readonly string[];
}

export interface Seen {
  readonly results: readonly AttemptResult[];
  /** At the consumers on public addresses. */
  readonly requestCount: number;
  /** Private addresses that were connected to. */
  readonly trips: readonly string[];
  readonly queryCount: number;
  readonly blocked: readonly string[];
  readonly connections: readonly string[];
}

export interface OpenNetwork extends Network, AsyncDisposable {
  readonly play: (scene: Scene) => Promise<Seen>;
}

/** How a network namespace is made here: by root, or in a user namespace; null where neither is possible. */
export function namespaceCommand(): readonly string[] | null {
  const ways = [
    ['unshare', '-n'],
    ['unshare', '-Urn'],
  ];
  const isPossible = ([command = '', ...options]: readonly string[]): boolean =>
    spawnSync(command, [...options, 'ip', 'link', 'set', 'lo', 'up']).status === 0;
  return ways.find(isPossible) ?? null;
}

export async function openNetwork(namespace: readonly string[] | null): Promise<OpenNetwork> {
  const program = [process.execPath, join(import.meta.dirname, 'network-main.ts')];
  const kind = namespace === null ? 'loopback' : 'namespace';
  const [command, ...options] = [...(namespace ?? []), ...program, kind];
  const child = spawn(command ?? '', options, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let waiting = Promise.withResolvers<unknown>();
  child.on('message', (message) => waiting.resolve(message));
  child.on('exit', (code) => waiting.reject(new Error(`network-main.ts ended: ${code}`)));
  const next = async <T>(): Promise<T> => {
    const message = (await waiting.promise) as T;
    waiting = Promise.withResolvers();
    waiting.promise.catch(() => undefined);
    return message;
  };
  const network = await next<Network>();
  return {
    ...network,
    play: async (scene) => {
      child.send(scene);
      return next<Seen>();
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
