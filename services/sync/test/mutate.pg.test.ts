import { parsePrivateKey, servicePrincipal, tokenMinter } from '@wts/access';
import { HEADERS, LIMITS, type MutateReply, type Principal, type ServiceName } from '@wts/contracts';
import { unknownModel } from '@wts/models';
import { startService, type RunningService } from '@wts/service-kit/life';
import { minterFor, tokenEnvironment } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { syncService } from '../src/service.ts';
import { TestEngines, type TestPerson } from './test-engines.ts';

describe('POST /sync/mutate', () => {
  let engines: TestEngines;
  let service: RunningService;
  let owner: TestPerson;
  let workspace: string;

  before(async () => {
    ({ engines, owner, workspace } = await TestEngines.withOwner('mutate', 1));
    service = await startService(syncService, {
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'fatal',
      ...tokenEnvironment('sync'),
      DATABASE_URL: engines.database.urlOf('wts_sync'),
      NATS_URL: 'nats://127.0.0.1:9',
      AUTH_SERVICE_URL: 'http://127.0.0.1:9',
      SHUTDOWN_GRACE_MS: '500',
    });
  });
  after(async () => {
    await service?.close();
    await engines[Symbol.asyncDispose]();
  });

  async function post(
    body: unknown,
    principal: Partial<Principal> = {},
    path = '/sync/mutate',
    from: ServiceName = path.startsWith('/internal/') ? 'workspace' : 'gateway',
  ): Promise<{ status: number; body: MutateReply }> {
    const token = minterFor(from, 'sync')({ ...owner.principal, ...principal });
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [HEADERS.principal]: token },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as MutateReply };
  }

  const batch = (...transactions: object[]): object => ({ batchId: randomUUID(), transactions });
  const transaction = (more: object = {}): Record<string, unknown> => ({
    clientId: 'device',
    clientTxId: randomUUID(),
    modelName: 'Task',
    modelId: randomUUID(),
    action: 'INSERT',
    payload: { workspaceId: workspace, title: 'T' },
    ...more,
  });

  it('answers 503 to all of it while a workspace in it moves, and applies it once when that ends [cells.move.refused]', async () => {
    const home = await engines.workspace(owner);
    const become = async (state: string): Promise<void> => {
      const body = { workspaceId: home, state };
      assert.equal((await post(body, servicePrincipal('auth'), '/internal/moves/state', 'auth')).status, 200);
    };
    const changes = batch(transaction(), transaction({ payload: { workspaceId: home, title: 'T' } }));
    const inHome = {
      modelName: 'Task',
      modelId: randomUUID(),
      action: 'INSERT',
      payload: { workspaceId: home, title: 'T' },
    };
    await become('moving');
    const { status, body } = await post(changes);
    assert.deepEqual([status, (body as { retryAfterSeconds?: number }).retryAfterSeconds], [503, 1]);
    const unit = { clientId: 'c', clientTxId: randomUUID(), authority: 'caller', mutations: [inHome] };
    assert.equal((await post(unit, {}, '/internal/commit')).status, 503);
    await become('none');
    assert.ok((await post(changes)).body.success);
    const tasks = await engines.checks.query('select from sync.tasks where workspace_id in ($1, $2)', [
      workspace,
      home,
    ]);
    assert.equal(tasks.rowCount, 2);
  });

  it('answers each transaction with its own result, and the accepted ones with their records', async () => {
    const [good, bad, last] = [transaction(), transaction({ payload: { title: 'No home' } }), transaction()];
    const { status, body } = await post(batch(good, bad, last));
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['ok', 'success', 'lastSyncId', 'results', 'mutations']);
    assert.deepEqual([body.ok, body.success], [true, false]);
    assert.deepEqual(
      body.results.map(({ clientTxId, success, error, code }) => ({ clientTxId, success, error, code })),
      [
        { clientTxId: good['clientTxId'], success: true, error: undefined, code: undefined },
        { clientTxId: bad['clientTxId'], success: false, error: 'workspaceId is required', code: 'validation_failed' },
        { clientTxId: last['clientTxId'], success: true, error: undefined, code: undefined },
      ],
    );
    assert.equal(typeof body.results[0]?.syncId, 'string');
    assert.equal(body.lastSyncId, body.results[2]?.syncId);
    assert.equal(body.lastSyncId, (await engines.head()).toString());
    assert.deepEqual(
      body.mutations.map(({ modelId }) => modelId),
      [good['modelId'], last['modelId']],
    );
    assert.equal(body.mutations[0]?.record['creatorId'], owner.id);
  });

  it('has the position of a change, and of the last entry it caused', async () => {
    const project = transaction({
      modelName: 'Project',
      payload: { workspaceId: workspace, key: 'WITH', name: 'With' },
    });
    const inside = transaction({ payload: { workspaceId: workspace, title: 'In it', projectId: project['modelId'] } });
    await post(batch(project, inside));
    const hide = transaction({ ...project, clientTxId: randomUUID(), action: 'UPDATE', payload: { isPrivate: true } });
    const { body } = await post(batch(hide));
    assert.equal(body.results[0]?.syncId, (await engines.head()).toString());
    const { rows } = await engines.pool.query<{ model_id: string }>(
      'select model_id from sync.sync_actions where sync_id = $1',
      [body.mutations[0]?.syncId],
    );
    assert.equal(rows[0]?.model_id, project['modelId']);
    assert.notEqual(body.mutations[0]?.syncId, body.results[0]?.syncId);
  });

  it('sent again gets the first answer', async () => {
    const sent = batch(transaction(), transaction());
    const first = await post(sent);
    assert.deepEqual(await post({ ...sent, batchId: 'another' }), first);
  });

  it('with refusals only is 200, with position 0 and success false', async () => {
    const { status, body } = await post(batch(transaction({ modelName: 'Nothing' })));
    assert.deepEqual([status, body.success, body.lastSyncId, body.mutations], [200, false, '0', []]);
    assert.equal(body.results[0]?.error, unknownModel('Nothing'));
  });

  it(`takes 1 to ${LIMITS.mutateTransactionsMax} transactions of the right shape; anything else is 400 and changes nothing`, async () => {
    const head = await engines.head();
    const many = Array.from({ length: LIMITS.mutateTransactionsMax }, () => transaction());
    for (const broken of [
      batch(),
      batch(...many, transaction()),
      { transactions: [transaction()] },
      batch(transaction({ modelId: 'x' })),
      batch(transaction({ action: 'I' })),
      batch(transaction({ payload: null })),
      batch(transaction({ clientTxId: '' })),
      batch(transaction({ clientId: 'x'.repeat(200) })),
      batch(transaction({ clientId: 5 })),
      batch(transaction({ payload: { title: 'NUL \0' } })),
      [],
    ])
      assert.equal((await post(broken)).status, 400, JSON.stringify(broken).slice(0, 200));
    assert.equal(await engines.head(), head);
    const { body } = await post(batch(...many));
    assert.ok(body.success);
    assert.equal(body.lastSyncId, String(await engines.head()));
    assert.equal((await engines.entries(head)).length, many.length);
  });

  it('needs scope write, also when another service calls on behalf of its caller', async () => {
    assert.equal((await post(batch(transaction()), { scopes: ['read'] })).status, 403);
    const { clientId, clientTxId, ...mutation } = transaction();
    const unit = { clientId, clientTxId, authority: 'caller', mutations: [mutation] };
    assert.equal((await post(unit, { scopes: ['read'] }, '/internal/commit')).status, 403);
    assert.equal((await post(unit, {}, '/internal/commit')).status, 200);
  });

  it('of another service is refused with a token that the gateway issued for a person, whatever authority it claims [authentication.internal.callers]', async () => {
    const head = await engines.head();
    const payload = { workspaceId: workspace, userId: owner.principal.userId, role: 'owner' };
    const joining = { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload };
    for (const authority of ['service', 'caller']) {
      const unit = { clientId: 'c', clientTxId: randomUUID(), authority, mutations: [joining] };
      for (const from of ['gateway', 'sync', 'agent'] as const)
        assert.equal((await post(unit, { scopes: ['read', 'write', 'admin'] }, '/internal/commit', from)).status, 401);
    }
    assert.equal(await engines.head(), head);
  });

  it('that names another service than its key is refused, so a compromised service makes no one an owner [authentication.internal.keys]', async () => {
    const head = await engines.head();
    const payload = { workspaceId: workspace, userId: randomUUID(), role: 'owner' };
    const joining = { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload };
    for (const thief of ['graph', 'agent', 'sync', 'gateway'] as const) {
      const key = parsePrivateKey(tokenEnvironment(thief)['INTERNAL_TOKEN_KEY'] ?? '');
      const token = tokenMinter({ from: 'workspace', to: 'sync', key })(owner.principal);
      const unit = { clientId: 'c', clientTxId: randomUUID(), authority: 'service', mutations: [joining] };
      const answer = await fetch(`${service.url}/internal/commit`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [HEADERS.principal]: token },
        body: JSON.stringify(unit),
      });
      assert.equal(answer.status, 401);
    }
    assert.equal(await engines.head(), head);
  });

  it('of another service may use authority "service" only when the service is listed for it [authentication.internal.authority]', async () => {
    const { clientId, clientTxId, ...mutation } = transaction();
    const unit = (authority: string): object => ({ clientId, clientTxId, authority, mutations: [mutation] });
    const head = await engines.head();
    assert.equal((await post(unit('service'), {}, '/internal/commit', 'graph')).status, 403);
    assert.equal(await engines.head(), head);
    assert.equal((await post(unit('caller'), {}, '/internal/commit', 'graph')).status, 200);
    for (const listed of ['workspace', 'auth'] as const) {
      const own = { ...unit('service'), clientTxId: randomUUID(), mutations: [{ ...mutation, modelId: randomUUID() }] };
      assert.equal((await post(own, {}, '/internal/commit', listed)).status, 200);
    }
  });

  it('of another service gets the error of a refusal, and is applied as a whole or not at all', async () => {
    const head = await engines.head();
    const unit = (authority: string, ...mutations: object[]): object => ({
      clientId: 'c',
      clientTxId: randomUUID(),
      authority,
      mutations,
    });
    const { clientId: _, clientTxId: __, ...task } = transaction();
    const missing = { modelName: 'Task', modelId: randomUUID(), action: 'DELETE', payload: {} };
    const answer = await post(unit('caller', task, missing), {}, '/internal/commit');
    assert.deepEqual(
      [answer.status, (answer.body as unknown as { code: string; message: string }).code],
      [404, 'not_found'],
    );
    const taken = {
      modelName: 'Workspace',
      modelId: randomUUID(),
      action: 'INSERT',
      payload: { name: 'W', urlKey: (await engines.stored('Workspace', workspace))?.record['urlKey'] },
    };
    assert.equal((await post(unit('service', taken), {}, '/internal/commit')).status, 409);
    assert.equal((await post(unit('caller', taken), {}, '/internal/commit')).status, 403);
    assert.equal(await engines.head(), head);
  });
});
