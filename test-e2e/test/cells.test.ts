import { runWts } from '@wts/cli/test-run';
import { SyncClient, type Change } from '@wts/client';
import type { OperatorMove } from '@wts/contracts';
import { connectTo, eventually, receiver, scratch, sendRequest, startTestSystem, testAuthority } from '@wts/testkit';
import type { Person, Received, Reply, RequestContent, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY = { firstPauseMs: 50, pauseMsMax: 500 };
const ENOUGH_MS = 40_000;

interface Listed {
  readonly workspaces: readonly { readonly id: string; readonly urlKey: string; readonly baseUrl?: string }[];
  readonly elsewhere?: readonly string[];
}

describe('two cells with one auth', function cells() {
  this.timeout(90_000);
  let testSystem: TestSystem;
  let authority: Awaited<ReturnType<typeof testAuthority>>;
  let ann: Person;

  before(async () => {
    authority = await testAuthority();
    testSystem = await startTestSystem({
      label: 'cells',
      secondCell: true,
      services: ['webhook-dispatcher'],
      overrides: { 'webhook-dispatcher': { WEBHOOK_EXTRA_CA_FILE: authority.caFile } },
    });
    ann = await testSystem.person('Ann');
    // Once the directory has listed the first cell.
    await eventually(async () => (await create(0, ann, `c-${randomUUID().slice(0, 8)}`)).status === 201);
  });
  after(() => testSystem.close());

  const urlOf = (cell: 0 | 1): string => (cell === 0 ? testSystem.baseUrl : testSystem.secondCell.baseUrl);
  const call = (cell: 0 | 1, token: string, request: string, content?: RequestContent): Promise<Reply> => {
    const [method = '', path = ''] = request.split(' ');
    return sendRequest({ baseUrl: urlOf(cell), token }, method, path, content);
  };
  const create = (cell: 0 | 1, { token }: Person, urlKey: string): Promise<Reply> =>
    call(cell, token, 'POST /api/workspaces', { body: { name: urlKey, urlKey } });
  const created = async (cell: 0 | 1, person: Person): Promise<{ id: string; urlKey: string }> => {
    const reply = await create(cell, person, `c-${randomUUID().slice(0, 8)}`);
    assert.equal(reply.status, 201, reply.text);
    return (reply.json() as { workspace: { id: string; urlKey: string } }).workspace;
  };
  const listAt = async (cell: 0 | 1, { token }: Person): Promise<Listed> =>
    (await call(cell, token, 'GET /api/workspaces')).json() as Listed;
  const clientAt = (cell: 0 | 1, { token }: Person, clientId: string): SyncClient =>
    new SyncClient({ baseUrl: urlOf(cell), token, retry: RETRY, clientId });
  const operate = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const target = { baseUrl: testSystem.authUrl, token: await testSystem.operatorToken() };
    const reply = await sendRequest(target, method, `/operator${path}`, { body });
    assert.ok(reply.status < 300, reply.text);
    return reply.json() as T;
  };
  const begin = async (workspaceId: string, to: 0 | 1): Promise<OperatorMove> =>
    (await operate<{ move: OperatorMove }>('POST', `/workspaces/${workspaceId}/moves`, { to })).move;
  const readMove = async (id: string): Promise<OperatorMove> =>
    (await operate<{ move: OperatorMove }>('GET', `/moves/${id}`)).move;
  const ended = ({ id }: OperatorMove): Promise<OperatorMove> =>
    eventually(
      async () => {
        const move = await readMove(id);
        return move.state === 'moving' ? null : move;
      },
      { deadlineMs: ENOUGH_MS, everyMs: 200 },
    );
  const taskIn = (workspaceId: string, title: string): Change => ({
    modelName: 'Task',
    modelId: randomUUID(),
    action: 'INSERT',
    payload: { workspaceId, title },
  });
  /** The records of a workspace that its people see, by id. */
  const recordsAt = async (cell: 0 | 1, person: Person, workspaceId: string): Promise<Map<string, unknown>> => {
    const path = `/sync/bootstrap?syncGroups=${workspaceId}`;
    const { text } = await call(cell, person.token, `GET ${path}`);
    const lines = text
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
    const records = lines.filter((line) => '__class' in line && line['__class'] !== 'User');
    return new Map(records.map((record) => [String(record['id']), record]));
  };

  it('take a urlKey once, and each list names the other [workspaces.create.taken, workspaces.list.elsewhere]', async () => {
    const [here, there] = [await created(0, ann), await created(1, ann)];
    for (const cell of [0, 1] as const) {
      for (const { urlKey } of [here, there]) assert.equal((await create(cell, ann, urlKey)).status, 409);
      const { workspaces, elsewhere } = await listAt(cell, ann);
      assert.ok(workspaces.every(({ baseUrl }) => baseUrl === urlOf(cell)));
      assert.deepEqual(elsewhere, [urlOf(cell === 0 ? 1 : 0)]);
      assert.ok(workspaces.some(({ id }) => id === (cell === 0 ? here : there).id));
      assert.ok(!workspaces.some(({ id }) => id === (cell === 0 ? there : here).id));
    }
    const bob = await testSystem.person('Bob');
    assert.deepEqual(await listAt(0, bob), { ok: true, workspaces: [], elsewhere: [] });
  });

  /** Adds a task every 50 ms or more, where the workspace is, until the signal; `sent` gets their ids. */
  const writeTasks = async (
    workspaceId: string,
    { token }: Person,
    sent: string[],
    signal: AbortSignal,
  ): Promise<void> => {
    let cell: 0 | 1 = 0;
    while (!signal.aborted) {
      const change = taskIn(workspaceId, `Task ${sent.length}`);
      sent.push(change.modelId);
      const transaction = { ...change, clientTxId: randomUUID(), clientId: 'writer' };
      const body = { batchId: randomUUID(), transactions: [transaction] };
      for (let isDone = false; !isDone;) {
        const reply = await call(cell, token, 'POST /sync/mutate', { body });
        const { results } = (reply.status === 200 ? reply.json() : {}) as {
          results?: { success?: boolean; error?: string }[];
        };
        isDone = reply.status === 200 && !JSON.stringify(results).includes('error');
        if (!isDone && reply.text.includes(urlOf(1))) cell = 1;
        await pause(50);
      }
    }
  };

  it('move a workspace while people follow and change it: nothing is lost, every id stays, and webhooks go on in order [operator.move.begins]', async () => {
    const { id: workspaceId } = await created(0, ann);
    const bob = await testSystem.member('Bob', 'member', workspaceId);
    const left = await testSystem.member('Lea', 'member', workspaceId);
    await clientAt(0, left, 'lea').mutateOrThrow([taskIn(workspaceId, 'Of a former member')]);
    await call(0, ann.token, `DELETE /api/workspaces/${workspaceId}/members/${left.userId}`);
    const { token: limitedKey } = await testSystem.keyOf(ann, { permissions: 'full-access', workspaceId });
    const invited = await call(0, ann.token, `POST /api/workspaces/${workspaceId}/invitations`, { body: {} });
    const { code } = (invited.json() as { invitation: { code: string } }).invitation;
    await using consumer = await receiver({ identity: await authority.issue() });
    const hook = { url: `${consumer.url}/`, workspaceId, eventTypes: ['task.created'] };
    assert.equal((await call(0, ann.token, 'POST /api/webhooks', { body: hook })).status, 201);

    const stop = new AbortController();
    const sent: string[] = [];
    const followed: string[] = [];
    const follow = async (): Promise<void> => {
      for await (const event of clientAt(0, ann, 'follower').follow({ signal: stop.signal })) {
        if (event.type === 'delta')
          followed.push(...event.actions.map((action) => `${action.action} ${action.modelName} ${action.groupId}`));
      }
    };
    const following = follow().catch((failure: unknown) => {
      if (!stop.signal.aborted) throw failure;
    });
    const writing = writeTasks(workspaceId, bob, sent, stop.signal);
    await eventually(() => sent.length > 10);
    const move = await ended(await begin(workspaceId, 1));
    assert.deepEqual([move.state, move.problem], ['moved', null]);
    const atEnd = sent.length;
    await eventually(() => sent.length > atEnd + 5);
    // The people of the old cell lose the workspace, as if they had left it.
    await eventually(() => followed.some((entry) => entry === `DELETE WorkspaceMember ${ann.userId}`));
    stop.abort();
    await Promise.all([writing, following]);

    const there = await recordsAt(1, ann, workspaceId);
    for (const id of sent) assert.ok(there.has(id), `${sent.indexOf(id)} of ${sent.length} is missing`);
    assert.ok((await listAt(1, ann)).workspaces.some(({ id }) => id === workspaceId));
    assert.ok(!(await listAt(0, ann)).workspaces.some(({ id }) => id === workspaceId));
    for (const token of [limitedKey, (await testSystem.appOf(ann, 'read')).accessToken]) {
      const { text } = await call(1, token, 'GET /api/workspaces');
      assert.ok(text.includes(workspaceId), text);
    }
    const late = { ...taskIn(workspaceId, 'Late'), clientTxId: randomUUID(), clientId: 'late' };
    const refused = await call(0, bob.token, 'POST /sync/mutate', {
      body: { batchId: randomUUID(), transactions: [late] },
    });
    assert.ok(refused.text.includes(urlOf(1)), refused.text);
    const cid = await testSystem.person('Cid');
    const joined = await call(1, cid.token, 'POST /api/workspaces/join', { body: { code } });
    assert.equal(joined.status, 200, joined.text);
    const numbers = [...there.values()].flatMap((record) => {
      const { number } = record as { number?: number };
      return number === undefined ? [] : [number];
    });
    assert.equal(new Set(numbers).size, numbers.length);
    const idOf = ({ body }: Received): string =>
      (JSON.parse(body) as { data: { object: { id: string } } }).data.object.id;
    await consumer.until((all) => sent.every((id) => all.some((one) => idOf(one) === id)));
    const first = [...new Set(consumer.received.map(idOf))];
    assert.deepEqual(first, sent);
  });

  it('a move goes on after auth ended in it, also between what another service did and what is written down of it', async () => {
    const { id: workspaceId, urlKey } = await created(1, ann);
    await clientAt(1, ann, 'mover').mutateOrThrow([taskIn(workspaceId, 'Moves')]);
    await call(1, ann.token, `POST /api/workspaces/${workspaceId}/invitations`, { body: {} });
    const before = await recordsAt(1, ann, workspaceId);
    await using database = await connectTo(testSystem.database.authUrl);
    // Each of these steps is done once more, because the first time its outcome cannot be stored. `moves.test.ts` of auth has the others.
    const steps = ['endpoints', 'invitations', 'leave', 'stop'];
    await database.query(`${steps.map((step) => `create sequence auth.refused_${step}`).join('; ')};
      create function auth.refuse_first() returns trigger language plpgsql security definer as $$ begin
        if old.problem is null and old.step in ('${steps.join(`', '`)}') and new.problem is null
        then raise exception 'interrupted %', nextval('auth.refused_' || old.step); end if;
        return new; end $$`);
    await database.query(
      `create trigger refuse_first before update on auth.moves for each row execute function auth.refuse_first()`,
    );
    const { id } = await begin(workspaceId, 0);
    await testSystem.service('auth').kill();
    await testSystem.service('auth').start();
    await eventually(async () => (await fetch(`${testSystem.service('auth').url}/ready`)).ok);
    const move = await ended(await readMove(id));
    assert.deepEqual([move.state, move.problem], ['moved', null]);
    // Where auth ended before it stored why, the step is interrupted twice.
    const { rows } = await database.query<{ step: string }>(
      `select substr(sequencename, 9) as step from pg_sequences where sequencename like 'refused\\_%' and last_value > 0 order by 1`,
    );
    assert.deepEqual(
      rows.map(({ step }) => step),
      steps,
    );
    await database.query(`drop function auth.refuse_first cascade;
      ${steps.map((step) => `drop sequence auth.refused_${step}`).join('; ')}`);
    assert.deepEqual(await recordsAt(0, ann, workspaceId), before);
    assert.equal((await create(1, ann, urlKey)).status, 409);
  });

  it('a move that is given up at its last step has shown nothing of its copy in the other cell [cells.move.unseen]', async () => {
    const { id: workspaceId } = await created(0, ann);
    await clientAt(0, ann, 'unseen').mutateOrThrow([taskIn(workspaceId, 'Unseen')]);
    await using held = new AsyncDisposableStack();
    const database = held.use(await connectTo(testSystem.database.authUrl));
    await database.query(`create function auth.hold() returns trigger language plpgsql as $$ begin
        if new.step = 'switch' then raise exception 'held'; end if; return new; end $$`);
    await database.query(`create trigger hold before update on auth.moves for each row execute function auth.hold()`);
    held.defer(async () => void (await database.query(`drop function auth.hold cascade`)));
    const move = await begin(workspaceId, 1);
    await eventually(
      async () => {
        const { step, problem } = await readMove(move.id);
        return step === 'endpoints' && problem !== null;
      },
      { deadlineMs: ENOUGH_MS },
    );
    const unseen = async (): Promise<void> => {
      assert.ok(!(await listAt(1, ann)).workspaces.some(({ id }) => id === workspaceId));
      assert.equal((await recordsAt(1, ann, workspaceId)).size, 0);
    };
    await unseen();
    await operate('POST', `/moves/${move.id}/cancellation`);
    assert.equal((await ended(move)).state, 'given-up');
    await unseen();
    await clientAt(0, ann, 'unseen').mutateOrThrow([taskIn(workspaceId, 'After')]);
  });

  it('a cell that is away fails nothing of the other: people work, sign in, list and make keys; a move into it waits, or is cancelled [operator.move.cancel]', async () => {
    const { id: workspaceId, urlKey } = await created(0, ann);
    const { secondCell } = testSystem;
    // All that the other cell asks.
    await secondCell.service('sync').kill();
    await clientAt(0, ann, 'away').mutateOrThrow([taskIn(workspaceId, 'Meanwhile')]);
    const { workspaces, elsewhere } = await listAt(0, ann);
    assert.ok(workspaces.some(({ id }) => id === workspaceId));
    assert.deepEqual(elsewhere, [urlOf(1)]);
    const eve = await testSystem.person('Eve');
    assert.equal((await call(0, eve.token, 'GET /api/workspaces')).status, 200);
    assert.equal((await call(0, ann.token, 'POST /api/auth/keys', { body: { label: 'ci' } })).status, 201);
    assert.equal((await call(0, ann.token, `GET /api/workspaces/${workspaceId}/access`)).status, 200);
    const env = {
      WTS_URL: urlOf(0),
      WTS_OPERATOR_TOKEN: await testSystem.operatorToken(),
      NO_COLOR: '1',
      WTS_CONFIG_DIR: scratch('cells-cli'),
    };
    for (const words of [['usage'], ['person', 'show', ann.userId], ['workspace', 'list']]) {
      const { err, code } = await runWts(['admin', ...words], { env });
      assert.equal(code, 0, err);
      assert.match(err, new RegExp(`No answer from ${urlOf(1)}`), words.join(' '));
    }
    const move = await begin(workspaceId, 1);
    await eventually(async () => (await readMove(move.id)).problem !== null);
    await operate('POST', `/moves/${move.id}/cancellation`);
    await clientAt(0, ann, 'after').mutateOrThrow([taskIn(workspaceId, 'After')]);
    await secondCell.service('sync').start();
    assert.equal((await ended(move)).state, 'given-up');
    const { out, err, code } = await runWts(['admin', 'workspace', 'move', urlKey, '--to', '1'], { env });
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`\\b${urlKey}\\b`));
    const listing = await runWts(['workspace', 'list'], {
      env: { WTS_URL: urlOf(0), WTS_TOKEN: ann.token, NO_COLOR: '1', WTS_CONFIG_DIR: scratch('cells-cli') },
    });
    assert.match(listing.out, new RegExp(`${urlKey}\\t.*${urlOf(1)}`));
  });
});
