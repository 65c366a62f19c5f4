import type { SyncAction } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { auditCopy, auditNewcomer, loadCopy, type Copy } from '../src/audit-live.ts';
import type { Target } from '../src/listeners.ts';
import { Table } from './table.ts';

/** A sync service that says what it is told to say, true or not. */
class Storyteller {
  /** What the deltas tell. */
  actions: object[] = [];
  /** What a snapshot shows, as of this place. */
  rows: object[] = [];
  at = '3';
  isCutOff = false;
  readonly #server: Server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://here');
    const after = Number(searchParams.get('after'));
    if (pathname === '/sync/deltas') {
      const actions = (this.actions as SyncAction[]).filter(({ syncId }) => Number(syncId) > after);
      res.end(JSON.stringify({ lastSyncId: '3', hasMore: false, actions }));
      return;
    }
    const lines = [
      { lastSyncId: this.at, subscribedSyncGroups: [] },
      ...this.rows,
      ...(this.isCutOff ? [] : [{ type: 'end', rowCount: this.rows.length }]),
    ];
    res.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });

  async open(): Promise<Target> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return { baseUrl: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`, token: 'any' };
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('the audit of a client’s copy', function () {
  this.timeout(60_000);
  let table: Table;
  let storyteller: Storyteller;
  let target: Target;

  beforeEach(async () => {
    table = await Table.set();
    storyteller = new Storyteller();
    target = await storyteller.open();
  });
  afterEach(async () => {
    storyteller.close();
    await table[Symbol.asyncDispose]();
  });

  const told = (
    syncId: string,
    action: SyncAction['action'],
    data: object,
    modelId: string = table.team.id,
  ): object => ({
    syncId,
    modelName: 'Team',
    modelId,
    action,
    data,
  });
  const shown = (record: object): object => ({ __class: 'Team', ...record });
  const groups = (): string[] => [table.workspaceId];
  /** Loaded before there was anything. */
  const empty = (): Copy => ({ records: new Map(), at: '0', groups: groups() });
  const replica = async (): Promise<string[]> =>
    (await auditCopy(table.client, target, empty(), groups())).findings.map(({ seen }) => seen);
  const newcomer = async (): Promise<string[]> =>
    (await auditNewcomer(table.client, target, groups())).findings.map(({ seen }) => seen);

  it('is content with one that says what the tables say', async () => {
    storyteller.actions = [
      told('1', 'INSERT', { ...table.record, name: 'Old' }),
      told('3', 'UPDATE', { name: 'Team' }),
    ];
    assert.deepEqual(await replica(), []);
    storyteller.rows = [shown(table.record)];
    assert.deepEqual(await newcomer(), []);
  });

  it('finds a record that did not come', async () => {
    const missing = `Team ${table.team.id}: a client does not have it`;
    assert.deepEqual(await replica(), [missing]);
    assert.deepEqual(await newcomer(), [missing]);
  });

  it('finds a field that differs', async () => {
    storyteller.actions = [told('1', 'INSERT', { ...table.record, name: 'Old' })];
    assert.deepEqual(await replica(), [`Team ${table.team.id}: a client has another name`]);
  });

  it('finds a record of which nobody said that it went, and one that is for others', async () => {
    const gone = randomUUID();
    storyteller.actions = [told('1', 'INSERT', table.record), told('2', 'INSERT', { ...table.record, id: gone }, gone)];
    assert.deepEqual(await replica(), [`Team ${gone}: a client has it, and it is gone or not for it`]);
    storyteller.rows = [shown(table.record)];
    const stranger = await auditNewcomer(table.client, target, [randomUUID()]);
    assert.deepEqual(
      stranger.findings.map(({ seen }) => seen),
      [`Team ${table.team.id}: a client has it, and it is gone or not for it`],
    );
  });

  it('leaves what changed after the place the client has come to for the next time', async () => {
    await table.append(4);
    assert.deepEqual(await replica(), []);
    storyteller.actions = [told('1', 'INSERT', table.record)];
    await table.client.query('delete from sync.teams');
    assert.deepEqual(await replica(), []);
  });

  it('takes no snapshot for whole that does not say so', async () => {
    storyteller.rows = [shown(table.record)];
    storyteller.isCutOff = true;
    await assert.rejects(newcomer(), /The snapshot is not whole/);
  });

  it('goes on from what was loaded, with the groups of then', async () => {
    storyteller.rows = [shown({ ...table.record, name: 'Old' })];
    storyteller.at = '1';
    const copy = await loadCopy(target);
    storyteller.actions = [told('1', 'DELETE', {}), told('3', 'UPDATE', { name: 'Team' })];
    assert.deepEqual((await auditCopy(table.client, target, copy, groups())).findings, []);
  });
});
