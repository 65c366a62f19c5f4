import type { SyncAction, SyncEvent } from '@wts/client';
import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Call } from '../call.ts';
import { fileFault, usageFault } from '../fault.ts';
import { actionText, fieldsText, valueText } from '../records/entry.ts';
import { RecordNames } from './record-names.ts';
import { WorkspaceGroups } from './workspace-groups.ts';

/**
 * Prints every change as it happens. The cursor decides what is new, so that no line is printed twice or left out, whatever happens to
 * the connection; with `--cursor` also when the program is started again. Keeps cli.watch.once.
 */
export async function watch(call: Call): Promise<void> {
  const { options, io, output, session, signal } = call;
  const { sync: openSync, workspaceOrAll, api } = await session();
  const [sync, isWanted, workspace] = [await openSync(), wantedOf(call), await workspaceOrAll()];
  const groups = workspace === null ? null : new WorkspaceGroups(workspace.id, api);
  const file = options.text('cursor');
  const stored = file === undefined ? null : await readCursor(resolve(io.cwd, file));
  const after = options.text('since') ?? stored ?? (await headOf(sync));
  if (!/^\d{1,19}$/.test(after)) throw usageFault(`--since takes a position of the log, not ${JSON.stringify(after)}.`);
  await output.note(
    `Watching ${workspace === null ? 'all workspaces' : workspace.name} from position ${after} on. Ctrl-C ends it.`,
  );
  const names = new RecordNames(await session());
  const report = connectionNotes(call);
  let last = BigInt(after);
  for await (const event of sync.follow({ after, signal })) {
    await report(event);
    if (event.type !== 'delta') continue;
    const entries = event.actions.filter(({ syncId }) => BigInt(syncId) > last);
    await groups?.learn(entries, signal);
    const wanted = entries.filter((entry) => isWanted(entry) && groups?.has(entry) !== false);
    await print(call, wanted, names);
    last = BigInt(event.lastSyncId);
    if (file !== undefined) await writeCursor(resolve(io.cwd, file), event.lastSyncId);
  }
}

/** A snapshot of nothing says where the log is, without reading it. */
async function headOf(sync: Awaited<ReturnType<Awaited<ReturnType<Call['session']>>['sync']>>): Promise<string> {
  const { lastSyncId, records } = await sync.bootstrap({ onlyModels: 'Label', syncGroups: randomUUID() });
  for await (const _ of records);
  return lastSyncId;
}

async function print({ output, io }: Call, entries: readonly SyncAction[], names: RecordNames): Promise<void> {
  if (output.isJson || output.form === 'ids') {
    for (const entry of entries) await output.item(entry, entry.syncId);
    return;
  }
  await names.learn(entries);
  for (const entry of entries) {
    const { syncId, createdAt, action, modelName, modelId } = entry;
    const what = fieldsText(entry);
    if (output.form === 'tabs') {
      await output.line([syncId, createdAt, action, modelName, modelId, JSON.stringify(entry.data)]);
      continue;
    }
    const time = new Intl.DateTimeFormat('en-GB', { timeZone: io.timezone, timeStyle: 'medium' }).format(
      new Date(createdAt),
    );
    await output.line([time, names.of(entry), actionText(entry), what]);
  }
}

/** Says once that a connection is lost, and that it is back. */
function connectionNotes({ output }: Call): (event: SyncEvent) => Promise<void> {
  let isLost = false;
  return async ({ type }) => {
    const wasLost = isLost;
    if (type === 'offline') isLost = true;
    if (type === 'subscribed') isLost = false;
    if (isLost && !wasLost) await output.note('Connection lost. Trying again until it is back ...');
    if (wasLost && !isLost) await output.note('Connected again.');
    if (type === 'reset')
      await output.warn('The log does not have the next entries any more: some changes are missing here.');
  };
}

/** Entries of the wanted models, with the wanted values. */
function wantedOf({ options }: Call): (entry: SyncAction) => boolean {
  const models = options.list('model').map((name) => name.toLowerCase());
  const filters = options.list('filter').map((one): readonly [string, string] => {
    const at = one.indexOf('=');
    if (at <= 0) throw usageFault(`--filter takes name=value, not ${JSON.stringify(one)}.`);
    return [one.slice(0, at), one.slice(at + 1)];
  });
  return (entry) => {
    if (models.length > 0 && !models.includes(entry.modelName.toLowerCase())) return false;
    const values: Readonly<Record<string, unknown>> = { ...entry.data, ...entry };
    return filters.every(([name, value]) => valueText(values[name]) === value);
  };
}

async function readCursor(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fileFault(path, 'read', cause);
  }
}

/** As a whole, because a half number is another position. */
async function writeCursor(path: string, position: string): Promise<void> {
  try {
    await writeFile(`${path}.part`, `${position}\n`);
    await rename(`${path}.part`, path);
  } catch (cause) {
    throw fileFault(path, 'written', cause);
  }
}
