import { MODEL_NAMES } from '@wts/models';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { caller, idsOf, parseBootstrap, TestSyncService, type Bootstrap } from './test-sync-service.ts';

interface ErrorAnswer {
  readonly error: string;
  readonly message: string;
  readonly code: string;
}

describe('/sync/bootstrap', () => {
  let sync: TestSyncService;
  let ada: string;
  let bob: string;
  let home: string;
  const unknown = randomUUID();
  let ofEmptyLog: Bootstrap;
  before(async () => {
    sync = await TestSyncService.open('bootstrap');
    ofEmptyLog = await sync.bootstrap(unknown);
    ada = await sync.person('Ada');
    bob = await sync.person('Bob');
    home = await sync.workspace(ada);
  });
  after(() => sync[Symbol.asyncDispose]());

  const refusal = async (query: string, userId = ada): Promise<ErrorAnswer> => {
    const answer = await sync.call(`/sync/bootstrap${query}`, { principal: caller(userId) });
    assert.equal(answer.status, 400);
    return (await answer.json()) as ErrorAnswer;
  };

  describe('an answer', () => {
    it('has the metadata first, then every record with its class, then its count [sync.bootstrap.ndjson, sync.bootstrap.lines, sync.bootstrap.schema-hash]', async () => {
      const taskId = await sync.insert('Task', { workspaceId: home, title: 'One' }, ada);
      const { metadata, rows } = await sync.bootstrap(ada, { schemaHash: 'cf858fcc229a2665' });
      const { rows: state } = await sync.sql.query<{ epoch: string; head: string }>(
        'select epoch::text, (select max(sync_id)::text from sync.sync_actions) as head from sync.log_state',
      );
      assert.deepEqual(metadata, {
        lastSyncId: state[0]?.head,
        subscribedSyncGroups: [ada, home],
        schemaHash: 'cf858fcc229a2665',
        databaseVersion: 1,
        epoch: state[0]?.epoch,
      });
      assert.deepEqual(idsOf(rows, 'Workspace'), [home]);
      assert.deepEqual(idsOf(rows, 'User'), [ada]);
      assert.ok(idsOf(rows, 'Task').includes(taskId));
    });

    it('has the content type NDJSON, and forbids caching', async () => {
      const answer = await sync.raw('/sync/bootstrap', caller(ada));
      answer.resume();
      const { headers } = answer;
      assert.equal(headers['content-type'], 'application/x-ndjson');
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['vary'], 'accept-encoding');
      assert.equal(headers['api-version'], '1');
    });

    it('holds archived records [sync.bootstrap.archived]', async () => {
      const taskId = await sync.insert('Task', { workspaceId: home, title: 'Old' }, ada);
      await sync.commit([{ modelName: 'Task', modelId: taskId, action: 'ARCHIVE', payload: {} }], ada);
      const { rows } = await sync.bootstrap(ada, { onlyModels: 'Task' });
      const archived = rows.find(({ id }) => id === taskId);
      assert.match(String(archived?.['archivedAt']), /^\d{4}-/);
    });

    it('is compressed when the client accepts gzip, and only then [sync.bootstrap.pace]', async () => {
      const plain = await sync.bootstrap(ada);
      for (const accepted of ['gzip', 'gzip, deflate, br', 'br;q=1.0, GZIP;q=0.5', '*']) {
        const answer = await sync.raw('/sync/bootstrap', caller(ada), { 'accept-encoding': accepted });
        assert.equal(answer.headers['content-encoding'], 'gzip', accepted);
        assert.deepEqual(parseBootstrap(await buffer(answer)).rows, plain.rows);
      }
      for (const accepted of ['', 'identity', 'br', 'gzip;q=0', '*;q=0', 'gzip;q=0, *']) {
        const answer = await sync.raw('/sync/bootstrap', caller(ada), { 'accept-encoding': accepted });
        assert.equal(answer.headers['content-encoding'], undefined, accepted);
        assert.deepEqual(parseBootstrap((await buffer(answer)).toString()).rows, plain.rows);
      }
    });

    it('is the same by POST, with the parameters in the query, in a body, or without any [sync.bootstrap.post]', async () => {
      const expected = await sync.bootstrap(ada, { onlyModels: 'User,Workspace', schemaHash: 'x' });
      const parameters = { onlyModels: 'User,Workspace', schemaHash: 'x' };
      const principal = caller(ada);
      const byBody = await sync.call('/sync/bootstrap', { principal, body: parameters });
      assert.deepEqual(parseBootstrap(await byBody.text()), expected);
      const byQuery = await sync.call(`/sync/bootstrap?${new URLSearchParams(parameters).toString()}`, {
        principal,
        body: {},
      });
      assert.deepEqual(parseBootstrap(await byQuery.text()), expected);
      const bare = await sync.call('/sync/bootstrap?onlyModels=User', { principal, method: 'POST' });
      assert.deepEqual(idsOf(parseBootstrap(await bare.text()).rows), [ada]);
    });
  });

  describe('onlyModels', () => {
    it('selects the named models and no other [sync.bootstrap.only-models]', async () => {
      for (const modelName of MODEL_NAMES) {
        const { rows } = await sync.bootstrap(ada, { onlyModels: modelName });
        assert.ok(rows.every(({ __class }) => __class === modelName));
      }
      const { rows } = await sync.bootstrap(ada, { onlyModels: 'Task, Workspace,Task,' });
      const classes = rows.map(({ __class }) => __class);
      assert.deepEqual([...new Set(classes)], ['Workspace', 'Task'], 'in the order of the registry');
    });

    it('refuses an unknown model by name, with a text that no client takes for a network error', async () => {
      assert.match(
        (await refusal('?onlyModels=Task,Issue')).message,
        /Unknown model "Issue"\. Models: Comment, Label, /,
      );
      for (const name of ['NetworkNode', 'fetch', 'timed%20out', '%3Cscript%3E', 'x'.repeat(65), '__proto__']) {
        const { message, error } = await refusal(`?onlyModels=Task,${name}`);
        assert.doesNotMatch(`${message} ${error}`, /network|fetch|timeout|timed out|aborted|econnrefused|</i);
      }
    });
  });

  describe('a published client that gains a group', () => {
    it('gets only the models it named with its schema when it loaded everything', async () => {
      const gina = await sync.person('Gina');
      const second = await sync.workspace(gina);
      await sync.insert('Label', { workspaceId: second, name: 'Label' }, gina);
      const schemaHash = 'cf858fcc229a2665';
      const classes = async (query: Record<string, string>): Promise<Set<unknown>> => {
        const { rows } = await sync.bootstrap(gina, { syncGroups: second, ...query });
        return new Set(rows.map(({ __class }) => __class));
      };
      await sync.bootstrap(gina, { type: 'full', schemaHash, onlyModels: 'Label,Task' });
      await sync.bootstrap(gina, { type: 'full', schemaHash: 'other', onlyModels: 'Workspace' });
      assert.deepEqual(await classes({ type: 'partial', schemaHash }), new Set(['Label']));
      await sync.restart(async () => ({}));
      assert.deepEqual(await classes({ type: 'partial', schemaHash }), new Set(['Label']), 'on every replica');
      assert.deepEqual(await classes({ type: 'partial', schemaHash, onlyModels: 'Workspace' }), new Set(['Workspace']));
      const everything = await classes({});
      assert.ok(everything.has('WorkspaceMember'));
      assert.deepEqual(await classes({ type: 'partial', schemaHash: 'unheard of' }), everything);
      assert.deepEqual(await classes({ schemaHash }), everything);
      await refusal(`?type=full&schemaHash=${schemaHash}&onlyModels=Nonsense`, gina);
      assert.deepEqual(
        await classes({ type: 'partial', schemaHash }),
        new Set(['Label']),
        'a refused list is not kept',
      );
    });

    it('has at most sixteen stored schemas', async () => {
      for (let index = 0; index < 20; index += 1)
        await sync.bootstrap(bob, { type: 'full', schemaHash: `schema ${index}`, onlyModels: 'User' });
      const { rows } = await sync.sql.query('select schema_hash from sync.client_models where user_id = $1', [bob]);
      assert.equal(rows.length, 16);
    });
  });

  describe('other parameters', () => {
    it('are accepted and ignored, as published clients send them', async () => {
      const expected = await sync.bootstrap(ada);
      const query = { type: 'full', noSyncPackets: 'true', useCFCaching: '1', modelsHash: 'abc', noCache: '' };
      assert.deepEqual((await sync.bootstrap(ada, { ...query, firstSyncId: '1' })).rows, expected.rows);
      assert.deepEqual((await sync.bootstrap(ada, { firstSyncId: 'soon' })).rows, expected.rows);
      assert.deepEqual((await sync.bootstrap(ada, { firstSyncId: '9999999999999999999' })).rows, expected.rows);
    });

    it('are refused when repeated, too long or not text', async () => {
      await refusal('?onlyModels=Task&onlyModels=User');
      await refusal(`?schemaHash=${'x'.repeat(257)}`);
      await refusal('?schemaHash=%00');
      for (const body of [[], 'text', { onlyModels: ['Task'] }, { syncGroups: 1 }, null]) {
        const answer = await sync.call('/sync/bootstrap', { principal: caller(ada), body });
        assert.equal(answer.status, 400, JSON.stringify(body));
      }
    });
  });

  describe('visibility', () => {
    it('has nothing of another workspace, also when its id is named [sync.bootstrap.own-groups]', async () => {
      const other = await sync.workspace(bob);
      await sync.insert('Task', { workspaceId: other, title: 'Theirs' }, bob);
      const { metadata, rows } = await sync.bootstrap(ada);
      assert.ok(!metadata.subscribedSyncGroups.includes(other));
      assert.ok(!JSON.stringify(rows).includes(other));
      const foreign = await sync.bootstrap(ada, { syncGroups: `${other},${bob},${randomUUID()},nonsense` });
      assert.deepEqual(foreign.metadata.subscribedSyncGroups, []);
      assert.deepEqual(foreign.rows, []);
    });

    it('narrows to the requested groups, and lists them [sync.bootstrap.sync-groups]', async () => {
      const second = await sync.workspace(ada);
      const there = await sync.insert('Label', { workspaceId: second, name: 'There' }, ada);
      const one = await sync.bootstrap(ada, { syncGroups: second.toUpperCase() });
      assert.deepEqual(one.metadata.subscribedSyncGroups, [second]);
      assert.deepEqual(idsOf(one.rows, 'Workspace'), [second]);
      assert.deepEqual(idsOf(one.rows, 'Label'), [there]);
      const own = await sync.bootstrap(ada, { syncGroups: ada });
      assert.deepEqual(own.metadata.subscribedSyncGroups, [ada]);
      assert.deepEqual(new Set(own.rows.map(({ __class }) => __class)), new Set(['User', 'WorkspaceMember']));
      assert.deepEqual(new Set(own.rows.map(({ workspaceId }) => workspaceId)), new Set([undefined, home, second]));
    });

    it('has one workspace only, for a credential that is limited to it', async () => {
      const second = await sync.workspace(ada);
      const { metadata, rows } = await sync.bootstrap(ada, {}, second);
      assert.deepEqual(metadata.subscribedSyncGroups, [ada, second]);
      assert.deepEqual(idsOf(rows, 'Workspace'), [second]);
      assert.ok(rows.every(({ workspaceId }) => workspaceId === undefined || workspaceId === second));
      const own = await sync.bootstrap(ada, { syncGroups: ada }, second);
      assert.deepEqual(new Set(own.rows.map(({ workspaceId }) => workspaceId)), new Set([undefined, second]));
    });
  });

  describe('a snapshot that was read for another caller', () => {
    it('never misses what was committed before the request', async () => {
      const eve = await sync.person('Eve');
      await sync.join(eve, home);
      for (let index = 0; index < 3; index += 1) {
        await sync.bootstrap(ada);
        const taskId = await sync.insert('Task', { workspaceId: home, title: `Task ${index}` }, ada);
        const [mine, theirs] = await Promise.all([sync.bootstrap(ada), sync.bootstrap(eve)]);
        assert.ok(idsOf(mine.rows).includes(taskId));
        assert.ok(idsOf(theirs.rows).includes(taskId));
      }
    });

    it('is never sent to a person with other memberships than those it was read for', async () => {
      const dora = await sync.person('Dora');
      const membershipId = await sync.join(dora, home);
      await sync.bootstrap(dora);
      await sync.commit([{ modelName: 'WorkspaceMember', modelId: membershipId, action: 'DELETE', payload: {} }]);
      const { metadata, rows } = await sync.bootstrap(dora);
      assert.deepEqual(metadata.subscribedSyncGroups, [dora]);
      assert.deepEqual(idsOf(rows), [dora]);
    });
  });

  it('works for an empty log and an unknown person', async () => {
    const { metadata, rows } = ofEmptyLog;
    assert.deepEqual([metadata.lastSyncId, metadata.subscribedSyncGroups, rows], ['0', [unknown], []]);
    const [last] = (await sync.sql.query<{ at: string }>('select max(sync_id)::text as at from sync.sync_actions'))
      .rows;
    assert.equal((await sync.bootstrap(unknown)).metadata.lastSyncId, last?.at);
  });
});
