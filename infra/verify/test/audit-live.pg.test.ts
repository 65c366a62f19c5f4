import type { SyncAction } from '@wts/contracts';
import { MODEL_NAMES } from '@wts/models';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { auditCopy, auditNewCopy, loadCopy, type ClientCopy } from '../src/audit-live.ts';
import type { Account } from '../src/followers.ts';
import { AuditedDatabase } from './audited-database.ts';

/** A sync service that answers what the test sets, right or wrong. */
class FakeSync {
  /** The entries of /sync/deltas. */
  actions: object[] = [];
  /** The rows of /sync/bootstrap, and their position. */
  rows: object[] = [];
  position = '3';
  isIncomplete = false;
  readonly #server: Server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://here');
    const after = Number(searchParams.get('after'));
    if (pathname === '/sync/deltas') {
      const actions = (this.actions as SyncAction[]).filter(({ syncId }) => Number(syncId) > after);
      res.end(JSON.stringify({ lastSyncId: '3', hasMore: false, actions }));
      return;
    }
    const lines = [
      { lastSyncId: this.position, subscribedSyncGroups: [] },
      ...this.rows,
      ...(this.isIncomplete ? [] : [{ type: 'end', rowCount: this.rows.length }]),
    ];
    res.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });

  async open(): Promise<Account> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return { baseUrl: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`, token: 'any' };
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('the audit of a client copy', function () {
  let audited: AuditedDatabase;
  let fake: FakeSync;
  let account: Account;

  before(async () => (audited = await AuditedDatabase.open()));
  beforeEach(async () => {
    await audited.reset();
    fake = new FakeSync();
    account = await fake.open();
  });
  afterEach(() => fake.close());
  after(() => audited[Symbol.asyncDispose]());

  const entry = (
    syncId: string,
    action: SyncAction['action'],
    data: object,
    modelId: string = audited.team.id,
  ): object => ({ syncId, modelName: 'Team', modelId, action, data });
  const row = (record: object): object => ({ __class: 'Team', ...record });
  const groups = (): string[] => [audited.workspaceId];
  /** A copy loaded before the first entry. */
  const empty = (): ClientCopy => ({ models: MODEL_NAMES, records: new Map(), position: '0', groups: groups() });
  const oldCopy = async (): Promise<string[]> =>
    (await auditCopy(audited.client, account, empty(), groups())).findings.map(({ seen }) => seen);
  const newCopy = async (): Promise<string[]> =>
    (await auditNewCopy(audited.client, account, groups())).findings.map(({ seen }) => seen);

  it('finds nothing when the copy equals the tables', async () => {
    fake.actions = [entry('1', 'INSERT', { ...audited.record, name: 'Old' }), entry('3', 'UPDATE', { name: 'Team' })];
    assert.deepEqual(await oldCopy(), []);
    fake.rows = [row(audited.record)];
    assert.deepEqual(await newCopy(), []);
  });

  it('finds a record that the copy lacks', async () => {
    const missing = `Team ${audited.team.id}: a client does not have it`;
    assert.deepEqual(await oldCopy(), [missing]);
    assert.deepEqual(await newCopy(), [missing]);
  });

  it('finds a field that differs', async () => {
    fake.actions = [entry('1', 'INSERT', { ...audited.record, name: 'Old' })];
    assert.deepEqual(await oldCopy(), [`Team ${audited.team.id}: a client has another name`]);
  });

  it('finds a record that was deleted without an entry, and one of a group without access', async () => {
    const gone = randomUUID();
    fake.actions = [entry('1', 'INSERT', audited.record), entry('2', 'INSERT', { ...audited.record, id: gone }, gone)];
    assert.deepEqual(await oldCopy(), [
      `Team ${gone}: a client has it, although it is deleted or not visible to that client`,
    ]);
    fake.rows = [row(audited.record)];
    const other = await auditNewCopy(audited.client, account, [randomUUID()]);
    assert.deepEqual(
      other.findings.map(({ seen }) => seen),
      [`Team ${audited.team.id}: a client has it, although it is deleted or not visible to that client`],
    );
  });

  it('does not compare records that changed after the position of the copy', async () => {
    await audited.append(4);
    assert.deepEqual(await oldCopy(), []);
    fake.actions = [entry('1', 'INSERT', audited.record)];
    await audited.client.query('delete from sync.teams');
    assert.deepEqual(await oldCopy(), []);
  });

  it('rejects a snapshot without its last line', async () => {
    fake.rows = [row(audited.record)];
    fake.isIncomplete = true;
    await assert.rejects(newCopy(), /The snapshot is not whole/);
  });

  it('applies only the entries after the position of the copy', async () => {
    fake.rows = [row({ ...audited.record, name: 'Old' })];
    fake.position = '1';
    const copy = await loadCopy(account);
    fake.actions = [entry('1', 'DELETE', {}), entry('3', 'UPDATE', { name: 'Team' })];
    assert.deepEqual((await auditCopy(audited.client, account, copy, groups())).findings, []);
  });
});
