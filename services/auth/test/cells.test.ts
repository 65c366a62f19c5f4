import {
  accessApi,
  apiKeyApi,
  cellApi,
  credentialApi,
  operatorApi,
  syncApi,
  type InternalMutation,
  type OperatorWorkspace,
} from '@wts/contracts';
import { compile } from '@wts/service-kit/routes';
import { type Backends, callOperation, eventually, openBackends, type TestPerson } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { TestOperator } from './operator.ts';
import { openTestService, SERVICE, type TestService } from './test-service.ts';

const BASE_URLS = ['https://cell0.example', 'https://cell1.example'] as const;

interface Ready {
  readonly background?: Readonly<Record<string, { readonly failures: number }>>;
}

/** The cells of which a replica with these CELLS has written down anything by the time it has refused one of them. */
async function knownOf(single: TestService, cells: readonly unknown[]): Promise<readonly number[]> {
  const replica = await single.replica({ CELLS: JSON.stringify(cells) });
  try {
    return await eventually(async () => {
      const ready = (await (await fetch(`${replica.service.url}/ready`)).json()) as Ready;
      const known = await single.backends.sql('select shard from auth.cells where listed_at is not null');
      const hasRefused = (ready.background?.['directory']?.failures ?? 0) > 0;
      return hasRefused && known.length > 0 ? known.map(({ shard }) => Number(shard)) : undefined;
    });
  } finally {
    await replica.service.close();
  }
}

describe('of two cells', () => {
  /** Knows one cell. */
  let single: TestService;
  let auth: TestService;
  let other: Backends;
  let operator: TestOperator;
  /** The cells of which a replica knew anything whose CELLS gives the second one another number than its sync has. */
  let ofWrongNumber: readonly number[];
  before(async () => {
    [single, other] = await Promise.all([
      openTestService(),
      openBackends({ label: 'auth-cell', role: 'wts_auth', shard: 1 }),
    ]);
    const nowhere = ['http://127.0.0.1:1'];
    const cells = [single.backends, other].map(({ syncUrl, natsUrl }, shard) => {
      const urls = { syncUrls: [syncUrl], workspaceUrls: nowhere, dispatcherUrls: nowhere };
      return { shard, baseUrl: BASE_URLS[shard], ...urls, natsUrl };
    });
    // Before the other one, which holds the lease of the directory from then on.
    ofWrongNumber = await knownOf(single, [cells[0], { ...cells[1], shard: 2 }]);
    auth = await single.replica({ CELLS: JSON.stringify(cells) });
    operator = await TestOperator.of(auth);
    await eventually(async () => {
      const sql = `select from auth.cells where listed_at is not null and people_position is not null`;
      return (await single.backends.sql(sql)).length === 2;
    });
  });
  after(async () => {
    await auth.service.close();
    await other[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    for (const { wires } of [single.backends, other]) wires.sync.mend();
    // The service may avoid an address that just failed.
    await eventually(async () => (await operator.call(operatorApi.readUsage, {})).body.usage.away === undefined);
  });

  const commitIn = async ({ syncUrl: url }: Backends, mutations: readonly InternalMutation[]): Promise<void> => {
    const unit = { clientId: 'test', clientTxId: randomUUID(), authority: 'service' } as const;
    const body = { ...unit, mutations: [...mutations] };
    const answer = await callOperation({ url, name: 'sync', compile }, SERVICE, syncApi.internalCommit, { body });
    assert.equal(answer.status, 200, answer.text);
  };
  const claim = async ({ userId }: TestPerson, shard: number, urlKey: string, workspaceId = randomUUID()) =>
    auth.call(SERVICE, cellApi.internalClaimWorkspace, { body: { workspaceId, urlKey, userId, shard } });
  /** As the workspace service of a cell does. */
  const workspaceIn = async (owner: TestPerson, shard: 0 | 1): Promise<{ id: string; urlKey: string }> => {
    const id = randomUUID();
    const urlKey = `w-${id.slice(0, 18)}`;
    assert.equal((await claim(owner, shard, urlKey, id)).status, 200);
    await commitIn(shard === 0 ? single.backends : other, [
      { modelName: 'Workspace', modelId: id, action: 'INSERT', payload: { name: 'Acme', urlKey, logoUrl: null } },
      {
        modelName: 'WorkspaceMember',
        modelId: randomUUID(),
        action: 'INSERT',
        payload: { workspaceId: id, userId: owner.userId, role: 'owner' },
      },
    ]);
    return { id, urlKey };
  };
  const recordIn = async (backends: Backends, userId: string): Promise<Record<string, unknown> | undefined> =>
    (await backends.sqlAs('wts_sync')(`select record from sync.users where id = $1`, [userId]))[0]?.['record'] as
      | Record<string, unknown>
      | undefined;
  const rename = (backends: Backends, { userId }: TestPerson, name: string): Promise<void> =>
    commitIn(backends, [{ modelName: 'User', modelId: userId, action: 'UPDATE', payload: { name } }]);
  const statusOfAccess = async (who: TestPerson, workspaceId: string): Promise<number> =>
    (await auth.call(who, accessApi.listAccess, { params: { workspaceId }, query: {} })).status;
  const listed = async (): Promise<{ ids: string[]; away: readonly string[] | undefined }> => {
    const all: OperatorWorkspace[] = [];
    for (;;) {
      const after = all.at(-1)?.id;
      const query = { limit: '20', ...(after === undefined ? {} : { after }) };
      const { body } = await operator.call(operatorApi.listWorkspaces, { query });
      all.push(...body.workspaces);
      if (!body.hasMore) return { ids: all.map(({ id }) => id), away: body.away };
    }
  };

  it('one whose sync has another number than CELLS says is not followed, and nothing of it is listed [cells.shard]', () =>
    assert.deepEqual(ofWrongNumber, [0]));

  it('a urlKey is of one workspace of all cells, a claim may be repeated, and one whose workspace never came ends [workspaces.create.taken]', async () => {
    const [ada, bob] = [await auth.person(), await auth.person()];
    const [id, urlKey] = [randomUUID(), `w-${randomUUID()}`];
    assert.equal((await claim(ada, 1, urlKey, id)).status, 200);
    assert.equal((await claim(ada, 1, urlKey, id)).status, 200);
    assert.equal((await claim(bob, 0, urlKey)).code, 'slug_taken');
    await single.backends.sql(
      `update auth.workspace_cells set claimed_at = now() - interval '1 hour' where url_key = $1`,
      [urlKey],
    );
    assert.equal((await claim(bob, 0, urlKey)).status, 200);
    const { id: kept, urlKey: taken } = await workspaceIn(ada, 1);
    await single.backends.sql(
      `update auth.workspace_cells set claimed_at = now() - interval '1 hour' where workspace_id = $1`,
      [kept],
    );
    assert.equal((await claim(bob, 0, taken)).code, 'slug_taken');
  });

  it('a person who acts in another cell has the same record there, and changes of it in each cell reach the other', async () => {
    const ada = await auth.person({ name: 'Ada' });
    assert.equal(await recordIn(other, ada.userId), undefined);
    await workspaceIn(ada, 1);
    assert.deepEqual(await recordIn(other, ada.userId), await recordIn(single.backends, ada.userId));
    for (const [from, to, name] of [
      [single.backends, other, 'Ada L.'],
      [other, single.backends, 'Ada Lovelace'],
    ] as const) {
      await rename(from, ada, name);
      await eventually(async () => (await recordIn(to, ada.userId))?.['name'] === name);
      assert.deepEqual(await recordIn(other, ada.userId), await recordIn(single.backends, ada.userId));
    }
  });

  it('a person whose copy cannot be repaired keeps no other from their turn', async () => {
    const ada = await auth.person({ name: 'Ada' });
    await workspaceIn(ada, 1);
    const missing = `insert into auth.person_cells (user_id, shard)
      select cast('00000000-0000-4000-8000-' || lpad(n::text, 12, '0') as uuid), 1 from generate_series(1, 250) n`;
    await auth.backends.sql(missing);
    await rename(single.backends, ada, 'Ada L.');
    await eventually(async () => (await recordIn(other, ada.userId))?.['name'] === 'Ada L.');
    await auth.backends.sql(`delete from auth.person_cells where user_id < '00000000-0000-4001-8000-000000000000'`);
  });

  it('a member of a workspace of another cell has a record there before they join', async () => {
    const [ada, bob] = [await auth.person(), await auth.person()];
    const { id: workspaceId } = await workspaceIn(ada, 1);
    const body = { userId: bob.userId, workspaceId };
    assert.equal((await auth.call(SERVICE, credentialApi.internalCheckJoining, { body })).status, 200);
    assert.equal((await recordIn(other, bob.userId))?.['id'], bob.userId);
  });

  it('a list says where a person may have more, whether that cell answers or not [workspaces.list.elsewhere]', async () => {
    const [ada, bob] = [await auth.person(), await auth.person()];
    const [here, there] = [await workspaceIn(ada, 0), await workspaceIn(ada, 1)];
    other.wires.sync.cut();
    const ask = async ({ userId }: TestPerson, shard: number, only: { workspaceId?: string } = {}) =>
      (await auth.call(SERVICE, cellApi.internalReadCells, { body: { userId, shard, ...only } })).body;
    assert.deepEqual(await ask(ada, 0), { ok: true, baseUrl: BASE_URLS[0], elsewhere: [BASE_URLS[1]] });
    assert.deepEqual(await ask(ada, 1), { ok: true, baseUrl: BASE_URLS[1], elsewhere: [BASE_URLS[0]] });
    assert.deepEqual((await ask(bob, 0)).elsewhere, []);
    assert.deepEqual((await ask(ada, 0, { workspaceId: here.id })).elsewhere, []);
    assert.deepEqual((await ask(ada, 0, { workspaceId: there.id })).elsewhere, [BASE_URLS[1]]);
  });

  it('one that is away fails what lives there, and nothing of the other', async () => {
    const ada = await auth.person();
    const [here, there] = [await workspaceIn(ada, 0), await workspaceIn(ada, 1)];
    other.wires.sync.cut();
    assert.deepEqual([await statusOfAccess(ada, here.id), await statusOfAccess(ada, there.id)], [200, 503]);
    assert.equal(await statusOfAccess(ada, randomUUID()), 404);
    assert.equal((await auth.call(ada, apiKeyApi.createApiKey, { body: { label: 'ci' } })).status, 201);
    assert.equal((await operator.call(operatorApi.disablePerson, { params: { userId: ada.userId } })).status, 200);
    const { person } = (await operator.call(operatorApi.readPerson, { params: { userId: ada.userId } })).body;
    assert.deepEqual([person.workspaces, person.away], [1, [BASE_URLS[1]]]);
    const { ids, away } = await listed();
    assert.deepEqual([ids.includes(here.id), ids.includes(there.id), away], [true, false, [BASE_URLS[1]]]);
    const erasing = { params: { userId: ada.userId }, body: { name: person.name } };
    assert.equal((await operator.call(operatorApi.erasePerson, erasing)).code, 'unavailable');
  });

  it('the first one may be away: known people go on in the other, and new people wait', async () => {
    const ada = await auth.person();
    const { id } = await workspaceIn(ada, 1);
    single.backends.wires.sync.cut();
    assert.equal(await statusOfAccess(ada, id), 200);
    const urlKey = `w-${randomUUID()}`;
    assert.equal((await claim(ada, 1, urlKey)).status, 200);
    const body = { issuer: 'https://issuer.example', subject: randomUUID() };
    assert.equal((await auth.call(SERVICE, credentialApi.internalResolvePerson, { body })).code, 'unavailable');
  });

  it('operators list, delete and restore workspaces of each, and give them owners; a person is erased in each', async () => {
    const [ada, bob] = [await auth.person({ name: 'Ada' }), await auth.person({ name: 'Bob' })];
    const [here, there] = [await workspaceIn(ada, 0), await workspaceIn(ada, 1)];
    const { ids, away } = await listed();
    assert.deepEqual([ids.length, away], [new Set(ids).size, undefined]);
    assert.ok(ids.includes(here.id) && ids.includes(there.id));
    const params = { workspaceId: there.id };
    const deletion = { params, body: { urlKey: there.urlKey } };
    assert.ok((await operator.call(operatorApi.deleteWorkspace, deletion)).body.workspace.archivedAt !== null);
    assert.equal((await operator.call(operatorApi.restoreWorkspace, { params })).body.workspace.archivedAt, null);
    for (const { id: workspaceId } of [here, there]) {
      const owning = { params: { workspaceId }, body: { userId: bob.userId } };
      assert.equal((await operator.call(operatorApi.addOwner, owning)).body.workspace.owners.length, 2);
    }
    const { people } = (await operator.call(operatorApi.listPeople, { query: { text: ada.userId } })).body;
    assert.deepEqual(
      people.map(({ userId, workspaces }) => [userId, workspaces]),
      [[ada.userId, 2]],
    );
    const erasing = { params: { userId: ada.userId }, body: { name: 'Ada' } };
    assert.equal((await operator.call(operatorApi.erasePerson, erasing)).status, 200);
    for (const backends of [single.backends, other])
      assert.equal((await recordIn(backends, ada.userId))?.['name'], 'Deleted person');
    const membership = `select from sync.workspace_members where user_id = $1`;
    assert.deepEqual(await other.sqlAs('wts_sync')(membership, [ada.userId]), []);
  });

  it('a revoked key is announced in the NATS of each', async () => {
    const ada = await auth.person();
    const { key } = (await auth.call(ada, apiKeyApi.createApiKey, { body: { label: 'ci' } })).body;
    const announced = await Promise.all([single.backends, other].map((backends) => backends.revocations()));
    assert.equal((await auth.call(ada, apiKeyApi.revokeApiKey, { params: { keyId: key.id } })).status, 200);
    for (const each of announced) assert.equal((await each.next()).credentialId, key.id);
    const tokenHash = createHash('sha256').update(key.token).digest('hex');
    const found = await auth.call(SERVICE, credentialApi.internalResolveApiKey, { body: { tokenHash } });
    assert.equal(found.body.principal, null);
  });

  it('a workspace that was made without a claim is found, and its urlKey is taken', async () => {
    const ada = await auth.person();
    const [id, urlKey] = [randomUUID(), `w-${randomUUID().slice(0, 18)}`];
    await commitIn(single.backends, [
      { modelName: 'Workspace', modelId: id, action: 'INSERT', payload: { name: 'Acme', urlKey, logoUrl: null } },
      {
        modelName: 'WorkspaceMember',
        modelId: randomUUID(),
        action: 'INSERT',
        payload: { workspaceId: id, userId: ada.userId, role: 'owner' },
      },
    ]);
    assert.equal(await statusOfAccess(ada, id), 200);
    assert.equal((await claim(ada, 1, urlKey)).code, 'slug_taken');
  });

  it('a move begins for a workspace that exists, into another cell that exists, once [operator.move.begins]; it waits for a service that does not answer, and until the switch it can be cancelled [operator.move.cancel]', async () => {
    const { id } = await workspaceIn(await auth.person(), 0);
    const begin = async (workspaceId: string, to: number, from = operator) =>
      from.call(operatorApi.moveWorkspace, { params: { workspaceId }, body: { to } });
    assert.equal((await begin(randomUUID(), 1)).code, 'not_found');
    assert.equal((await begin(id, 2)).code, 'validation_failed');
    assert.equal((await begin(id, 0)).code, 'conflict');
    const answer = await begin(id, 1);
    assert.deepEqual([answer.status, answer.body.move.state, answer.body.move.to], [202, 'moving', 1]);
    assert.equal((await begin(id, 1)).code, 'conflict');
    assert.equal((await operator.call(operatorApi.readMove, { params: { moveId: randomUUID() } })).code, 'not_found');
    const { moves } = (await operator.call(operatorApi.listMoves, { query: {} })).body;
    assert.equal(moves[0]?.workspaceId, id);
    const params = { moveId: answer.body.move.id };
    const untilStep = (step: string): Promise<boolean> =>
      eventually(async () => (await operator.call(operatorApi.readMove, { params })).body.move.step === step);
    // Its dispatcher does not answer, so changes are not refused.
    await untilStep('stop');
    const record = async ({ sqlAs }: Backends): Promise<unknown> =>
      (await sqlAs('wts_sync')(`select record from sync.workspaces where id = $1`, [id]))[0]?.['record'];
    assert.deepEqual(await record(other), await record(single.backends));
    assert.equal((await operator.call(operatorApi.cancelMove, { params })).status, 202);
    await untilStep('clear');
    await commitIn(single.backends, [
      { modelName: 'Workspace', modelId: id, action: 'UPDATE', payload: { name: 'Acme 2' } },
    ]);
    const members = await other.sqlAs('wts_sync')(`select from sync.workspace_members where workspace_id = $1`, [id]);
    assert.deepEqual(members, []);
  });

  it('an installation of one looks nothing up [workspaces.list.elsewhere]', async () => {
    const ada = await single.person();
    const body = { userId: ada.userId, shard: 0 };
    const answer = await single.call(SERVICE, cellApi.internalReadCells, { body });
    assert.deepEqual(answer.body.elsewhere, []);
    const claimed = { ...body, workspaceId: randomUUID(), urlKey: 'anything' };
    assert.equal((await single.call(SERVICE, cellApi.internalClaimWorkspace, { body: claimed })).status, 200);
    const sql = `select from auth.workspace_cells where workspace_id = $1`;
    assert.deepEqual(await single.backends.sql(sql, [claimed.workspaceId]), []);
  });
});
