import { runWts, type TestRun } from '@wts/cli/test-run';
import { SyncClient, type Change } from '@wts/client';
import { createApiClient, type ApiClient } from '@wts/client/api';
import { eventually, scratch, type Person, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSystem } from './shared-system.ts';

export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** What `wts import --json` prints. */
export interface Report {
  readonly target: { readonly id: string };
  readonly people: readonly { readonly to: { readonly userId: string } | null; readonly by: string }[];
  readonly refusedPath: string;
  readonly planned: Readonly<Record<string, number>> | null;
  readonly comparison: {
    readonly equal: Readonly<Record<string, number>>;
    readonly missing: Readonly<Record<string, number>>;
    readonly differencesTotal: number;
    readonly refusedTotal: number;
    readonly sameNumbers: number;
    readonly sha256: { readonly export: string; readonly target: string };
  };
}

export const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');
export const TASKS = 250;
/** All of the workspace that is exported, without its members. */
export const RECORDS = {
  Comment: 75,
  Label: 1,
  Project: 2,
  ProjectMember: 2,
  Task: TASKS,
  TaskChecklistItem: 25,
  Team: 1,
  TeamMember: 1,
};

interface WorkspaceRef {
  readonly id: string;
  readonly urlKey: string;
}

/** A workspace with something of everything, its export, and commands that run at the shared system. */
export class TransferSystem {
  readonly testSystem: TestSystem;
  readonly api: ApiClient;
  readonly sync: SyncClient;
  readonly source: WorkspaceRef;
  /** In the source. */
  readonly member: Person;
  readonly folder: string;
  /** The export of the source. */
  readonly exported: string;

  static async open(label: string): Promise<TransferSystem> {
    const testSystem = await sharedSystem();
    const { baseUrl, apiKey: token } = testSystem;
    const api = createApiClient({ baseUrl, token });
    const source = await createWorkspace(api, 'Source');
    const member = await testSystem.member('Ana', 'member', source.id);
    const opened = new TransferSystem({ testSystem, api, source, member, folder: scratch(label) });
    const changes = changesOf(source.id, member.userId);
    for (let at = 0; at < changes.length; at += 100) await opened.sync.mutateOrThrow(changes.slice(at, at + 100));
    await opened.ok(['export', source.urlKey, '--to', opened.exported]);
    return opened;
  }

  private constructor(parts: Pick<TransferSystem, 'testSystem' | 'api' | 'source' | 'member' | 'folder'>) {
    this.testSystem = parts.testSystem;
    this.api = parts.api;
    this.source = parts.source;
    this.member = parts.member;
    this.folder = parts.folder;
    this.exported = join(parts.folder, 'source');
    this.sync = new SyncClient({ baseUrl: parts.testSystem.baseUrl, token: parts.testSystem.apiKey });
  }

  wts(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<TestRun> {
    return runWts(argv, { env: { ...this.env(), ...env }, more: { cwd: this.folder } });
  }

  async ok(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<TestRun> {
    const done = await this.wts(argv, env);
    assert.equal(done.code, 0, `${argv.join(' ')}: ${done.err}`);
    return done;
  }

  async importOk(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Report> {
    return JSON.parse((await this.ok(['import', ...argv, '--json'], env)).out) as Report;
  }

  workspace(name: string): Promise<WorkspaceRef> {
    return createWorkspace(this.api, name);
  }

  async keyOf(person: Pick<Person, 'userId'>): Promise<string> {
    return (await this.testSystem.keyOf(person, { permissions: 'full-access' })).token;
  }

  async tasksOf(workspaceId: string): Promise<readonly Row[]> {
    const { records } = await this.sync.bootstrap({ onlyModels: 'Task' });
    const all: readonly Row[] = (await Array.fromAsync(records)).flat();
    return all.filter((task) => task['workspaceId'] === workspaceId);
  }

  env(url = this.testSystem.baseUrl): Record<string, string> {
    return { WTS_URL: url, WTS_TOKEN: this.testSystem.apiKey, WTS_CONFIG_DIR: this.folder };
  }

  /** Runs a command as a program and sends it a signal when the condition holds; resolves to how it ended. */
  async endedBy(
    how: 'SIGINT' | 'SIGKILL',
    { url, argv, when }: { readonly url: string; readonly argv: readonly string[]; readonly when: () => boolean },
  ): Promise<number | string | null> {
    const env = { ...process.env, ...this.env(url) };
    const child = spawn(process.execPath, [MAIN, ...argv], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    try {
      await eventually(when);
    } finally {
      child.kill(how);
    }
    const [code, signal] = (await ended) as [number | null, string | null];
    return signal ?? code;
  }
}

async function createWorkspace(api: ApiClient, name: string): Promise<WorkspaceRef> {
  return (await api.createWorkspace({ name, urlKey: `${name.toLowerCase()}-${randomUUID().slice(0, 8)}` })).workspace;
}

export function insertion(modelName: string, modelId: string, payload: object): Change {
  return { modelName, modelId, action: 'INSERT', payload } as object as Change;
}

/** A workspace with something of everything. */
function changesOf(workspaceId: string, assigneeId: string): readonly Change[] {
  const [team, open, secret, label] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const insert = (model: string, id: string, payload: object): Change =>
    insertion(model, id, { workspaceId, ...payload });
  const changes: Change[] = [
    { modelName: 'Workspace', modelId: workspaceId, action: 'UPDATE', payload: { timeZone: 'Europe/Berlin' } },
    insert('Team', team, { key: 'ENG', name: 'Engineering' }),
    insertion('TeamMember', randomUUID(), { teamId: team, userId: assigneeId }),
    insert('Project', open, { key: 'P', name: 'Project', teamId: team, status: 'done' }),
    insert('Project', secret, { key: 'S', name: 'Secret', isPrivate: true }),
    insertion('ProjectMember', randomUUID(), { projectId: secret, userId: assigneeId }),
    insert('Label', label, { name: 'bug 🐞', color: '#ff0000' }),
  ];
  for (let number = 1; number <= TASKS; number += 1) {
    const id = randomUUID();
    const repeats = number % 50 === 0 ? { repeatRule: 'FREQ=WEEKLY;COUNT=5', startDate: '2999-01-01' } : {};
    const fields = { title: `Task ${number}\n`, labelIds: [label], assigneeId: number % 3 === 0 ? assigneeId : null };
    changes.push(insert('Task', id, { ...fields, ...repeats, projectId: number % 2 === 0 ? secret : null }));
    if (number % 10 === 0) {
      const thread = [randomUUID(), randomUUID(), randomUUID()];
      changes.push(insert('TaskChecklistItem', randomUUID(), { taskId: id, title: 'Item' }));
      for (const [at, comment] of thread.entries())
        changes.push(insert('Comment', comment, { taskId: id, body: `Level ${at}`, parentId: thread[at - 1] ?? null }));
      changes.push({ modelName: 'Task', modelId: id, action: 'ARCHIVE' });
    }
    if (number % 40 === 1) {
      const deleted = randomUUID();
      changes.push(insert('Task', deleted, { title: 'Deleted' }), {
        modelName: 'Task',
        modelId: deleted,
        action: 'DELETE',
      });
    }
  }
  return changes;
}

export function linesOf(path: string): readonly Row[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Row);
}
