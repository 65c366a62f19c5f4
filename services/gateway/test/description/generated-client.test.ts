import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { describeRoutes } from '../../src/openapi.ts';
import { API_ROUTES } from '../../src/routes.ts';

/** The strict compiler options of this project. */
const OPTIONS = {
  target: 'esnext',
  module: 'nodenext',
  types: [],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
};

/** A client of the generated types. The compiler must refuse the lines under `@ts-expect-error`. */
const CLIENT = `
import type { components, operations } from './api.js';

type Schemas = components['schemas'];
type Transaction = Schemas['SyncTransaction'];
type Body<O extends keyof operations> = operations[O] extends
  { requestBody?: { content: { 'application/json': infer B } } } ? B : never;

const [workspaceId, modelId] = ['018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10', '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c11'];
const sent = { clientTxId: 'tx', clientId: 'cli', modelId };

export const make: Transaction = { ...sent, modelName: 'Task', action: 'INSERT',
  payload: { workspaceId, title: 'Write it down', priority: 1, labelIds: [], deadlineAt: '2026-12-24' },
};
export const complete: Transaction = { ...sent, modelName: 'Task', action: 'UPDATE', payload: { completedAt: new Date().toISOString() },
};
export const reopen: Transaction = { ...sent, modelName: 'Task', action: 'UPDATE', payload: { completedAt: null } };
export const toTrash: Transaction = { ...sent, modelName: 'Task', action: 'ARCHIVE', payload: {} };
export const promote: Transaction = { ...sent, modelName: 'WorkspaceMember', action: 'UPDATE', payload: { role: 'admin' } };
export const batch: Body<'syncMutate'> = { batchId: 'one', transactions: [make, complete, reopen, toTrash, promote] };

// @ts-expect-error -- a task needs a title
export const untitled: Transaction = { ...sent, modelName: 'Task', action: 'INSERT', payload: { workspaceId } };
export const mistyped: Transaction = { ...sent, modelName: 'Task', action: 'UPDATE',
  // @ts-expect-error -- there is no such field
  payload: { titel: 'x' },
};
// @ts-expect-error -- the workspace of a task cannot be changed
export const moved: Transaction = { ...sent, modelName: 'Task', action: 'UPDATE', payload: { workspaceId } };
// @ts-expect-error -- there is no such model
export const unknown: Transaction = { ...sent, modelName: 'Taks', action: 'DELETE', payload: {} };
// @ts-expect-error -- memberships are made by joining
export const joined: Transaction = { ...sent, modelName: 'WorkspaceMember', action: 'INSERT', payload: {} };

type Deltas = operations['syncDeltas']['responses'][200]['content']['application/json'];
type Task = Schemas['TaskRecord'];

export function follow(tasks: Map<string, Task>, { actions, lastSyncId }: Deltas): string {
  for (const entry of actions) {
    if (entry.modelName !== 'Task') continue;
    const before = tasks.get(entry.modelId);
    switch (entry.action) {
      case 'INSERT':
      case 'I':
        tasks.set(entry.modelId, entry.data);
        break;
      case 'UPDATE':
      case 'U':
        if (before) tasks.set(entry.modelId, { ...before, ...entry.data });
        console.log(entry.data.updatedAt, entry.data.title?.toUpperCase());
        break;
      case 'ARCHIVE':
      case 'A':
      case 'UNARCHIVE':
      case 'V':
        if (before) tasks.set(entry.modelId, { ...before, archivedAt: entry.data.archivedAt });
        break;
      default:
        tasks.delete(entry.modelId);
        // @ts-expect-error -- a deletion shows nothing
        console.log(entry.data.title.length);
    }
  }
  return lastSyncId;
}

type Made = operations['syncMutate']['responses'][200]['content']['application/json'];
export function numbersOf({ mutations }: Made): number[] {
  return mutations.flatMap((made) => (made.modelName === 'Task' ? [made.record.number] : []));
}
`;

describe('a client whose types are generated from the description', () => {
  it('creates and completes a task and reads the log without a cast, with the strictest compiler options [meta.openapi.typed-records]', async () => {
    const document = describeRoutes(API_ROUTES, { serverUrl: 'https://tasks.acme.test' });
    const types = astToString(await openapiTS(structuredClone(document) as never));
    using made = mkdtempDisposableSync(join(tmpdir(), 'wts-client-'));
    const directory = made.path;
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(join(directory, 'api.d.ts'), types);
    writeFileSync(join(directory, 'client.ts'), `declare const console: { log(...values: unknown[]): void };${CLIENT}`);
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }));
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    const faults = await promisify(execFile)(process.execPath, [compiler, '-p', directory]).then(
      () => '',
      (refused: unknown) => String((refused as { readonly stdout?: string }).stdout ?? refused),
    );
    assert.equal(faults, '');
  });

  it('is generated from a description of limited size', () => {
    const text = JSON.stringify(describeRoutes(API_ROUTES, { serverUrl: 'https://tasks.acme.test' }));
    assert.ok(text.length < 384 * 1024, `${text.length} bytes`);
  });
});
