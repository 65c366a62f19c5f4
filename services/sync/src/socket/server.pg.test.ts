import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { CredentialKind } from '@wts/contracts';
import type { Duplex } from 'node:stream';
import { socketOf, testDatabase, type LiveSocket, type TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { openTestReplica, type TestReplica, type ReplicaOptions } from '../../test/replica.ts';

describe('the WebSocket server', () => {
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;
  const [user, workspace, foreign]: [string, string, string] = [randomUUID(), randomUUID(), randomUUID()];
  const open: AsyncDisposable[] = [];

  before(async () => {
    database = await testDatabase('socket_server', { migrated: true });
    pool = new Pool({ connectionString: database.urlOf('wts_sync') });
    writer = new LogWriter(pool);
    await writer.join(user, workspace);
    for (let id = 0; id < 20; id += 1) await writer.append([{ groupId: workspace }, { groupId: foreign }]);
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
  });

  async function replica(options: Partial<ReplicaOptions> = {}): Promise<TestReplica> {
    const opened = await openTestReplica({ pool, writer, ...options });
    open.push(opened);
    return opened;
  }

  async function connect(to: TestReplica, options: Partial<Parameters<typeof socketOf>[1]> = {}): Promise<LiveSocket> {
    const socket = await socketOf(to, { token: user, ...options });
    open.push(socket);
    return socket;
  }

  const visible = (groups: readonly string[], after = 0): string[] =>
    writer.shown(user, groups, BigInt(after)).map(({ syncId }) => syncId);
  const idsOf = (socket: LiveSocket): string[] => socket.actions.map(({ syncId }) => syncId);

  it('sends the subscribed groups, then missed entries, then live ones, each once and none of other groups [sync.socket.subscribe, sync.socket.subscribed, sync.socket.catch-up, sync.socket.delta, sync.socket.own-groups, sync.action.fields, sync.action.sync-id, sync.socket.ascending]', async () => {
    const at = await replica();
    const socket = await connect(at);
    assert.deepEqual(socket.frames[0], { type: 'subscribed', afterSyncId: '0', groups: [user, workspace] });
    await writer.append([{ groupId: workspace }, { groupId: foreign }, { groupId: workspace }]);
    await socket.until(({ actions }) => actions.length >= visible([user, workspace]).length);
    assert.deepEqual(idsOf(socket), visible([user, workspace]));
    const last = socket.actions.at(-1)!;
    const { syncId, modelName, modelId, data, groupId, clientId, clientTxId, createdAt } = writer.committed.at(-1)!;
    assert.deepEqual(last, {
      syncId,
      modelName,
      modelId,
      action: 'UPDATE',
      data,
      groupId,
      clientTxId,
      clientId,
      createdAt,
    });
  });

  it('sends letters to clients that name groups, and words to the others [sync.action.words, sync.action.letters]', async () => {
    const at = await replica();
    const words = await connect(at);
    const letters = await connect(at, { groups: [] });
    await words.until(({ actions }) => actions.length > 2);
    await letters.until(({ actions }) => actions.length > 2);
    assert.deepEqual(
      words.actions.slice(0, 3).map(({ action }) => action as string),
      ['INSERT', 'UPDATE', 'UPDATE'],
    );
    assert.deepEqual(
      letters.actions.slice(0, 3).map(({ action }) => action as string),
      ['G', 'U', 'U'],
    );
    assert.deepEqual(letters.actions[0], {
      ...words.actions[0],
      modelName: '__sync_groups__',
      modelId: user,
      action: 'G',
      data: { subscribedSyncGroups: [user, workspace] },
    });
  });

  it('narrows to the named groups and never widens to groups of others [sync.socket.own-groups]', async () => {
    const at = await replica();
    const socket = await connect(at, { groups: [foreign, workspace.toUpperCase()] });
    assert.deepEqual(socket.frames[0]?.groups, [workspace]);
    await socket.until(({ actions }) => actions.length >= visible([workspace]).length);
    assert.deepEqual(idsOf(socket), visible([workspace]));
    const nothing = await connect(at, { groups: [foreign] });
    assert.deepEqual(nothing.frames[0]?.groups, []);
    await writer.append([{ groupId: foreign }, { groupId: workspace }]);
    await socket.untilAction(({ syncId }) => syncId === writer.committed.at(-1)?.syncId);
    assert.deepEqual(nothing.actions, []);
  });

  it('replaces the subscription when the client subscribes again on the same socket [sync.socket.re-subscribe]', async () => {
    const at = await replica();
    const socket = await connect(at);
    await socket.until(({ actions }) => actions.length >= visible([user, workspace]).length);
    const before = socket.actions.length;
    const after = visible([workspace])[5]!;
    socket.send({ type: 'subscribe', afterSyncId: after, token: user });
    await socket.until(({ actions }) => actions.length >= before + visible([user, workspace], Number(after)).length);
    assert.deepEqual(idsOf(socket).slice(before), visible([user, workspace], Number(after)));
  });
  it('keeps the second of two subscribe frames sent together', async () => {
    const at = await replica();
    const socket = await connect(at, { subscribe: false });
    socket.send({ type: 'subscribe', afterSyncId: '0', token: user });
    socket.send({ type: 'subscribe', afterSyncId: '10', token: user });
    await socket.until(({ actions }) => actions.length >= visible([user, workspace], 10).length);
    assert.deepEqual(idsOf(socket), visible([user, workspace], 10));
  });

  it('advances the cursor of a client without news [sync.socket.watermark]', async () => {
    const at = await replica({ limits: { watermarkMs: 50, tickMs: 10 } });
    const socket = await connect(at, { after: String((await at.log.head()).head) });
    const chunk = await writer.append([{ groupId: foreign }]);
    await socket.until(({ cursor }) => cursor() === chunk.last);
    // Also without any change, because a client in a browser does not see pings.
    const { length } = socket.frames;
    await socket.until(({ frames }) => frames.length > length + 1);
    assert.equal(socket.cursor(), chunk.last);
    assert.deepEqual(socket.actions, []);
  });

  describe('requires a bootstrap, and lets the client subscribe again on the same socket [sync.socket.bootstrap-required],', () => {
    const lacks = async (after: string): Promise<void> => {
      const at = await replica();
      const socket = await connect(at, { subscribe: false });
      socket.send({ type: 'subscribe', afterSyncId: after, token: user });
      await socket.until(({ frames }) => frames.length > 0);
      assert.equal(socket.frames[0]?.type, 'error');
      assert.equal(socket.frames[0]?.['code'], 'BOOTSTRAP_REQUIRED');
      assert.match(String(socket.frames[0]['message']), /^afterSyncId is not in the log: it is too old, or of another/);
      socket.send({ type: 'subscribe', afterSyncId: String(at.hub.last), token: user });
      await socket.until(({ frames }) => frames.length > 1);
      assert.equal(socket.frames[1]?.type, 'subscribed');
    };
    it('for a cursor beyond the head of the log', () => lacks('9223372036854775807'));
    it('for a cursor below the floor of the log, and not for one at the floor', async () => {
      await pool.query('update sync.log_state set floor = 3');
      try {
        await lacks('2');
        await lacks('0');
        const socket = await connect(await replica(), { after: '3' });
        await socket.until(({ actions }) => actions.length > 0);
      } finally {
        await pool.query('update sync.log_state set floor = 0');
      }
    });
  });

  describe('sends the reason in an error frame and closes [sync.socket.subscribe, sync.socket.bad-frame]', () => {
    const closing = async (
      status: number,
      code: string,
      act: (socket: LiveSocket, at: TestReplica) => unknown,
      { token = user, ...options }: Partial<ReplicaOptions> & { readonly token?: string } = {},
    ): Promise<LiveSocket> => {
      const at = await replica(options);
      const socket = await connect(at, { subscribe: false, token });
      await act(socket, at);
      await socket.until(({ ended }) => ended() !== null);
      assert.equal(socket.frames.at(-1)?.['code'], code);
      assert.equal(socket.ended()?.code, status);
      return socket;
    };
    const subscribe = { type: 'subscribe', afterSyncId: '0', token: user };

    it('when the client does not subscribe [sync.socket.no-subscribe]', () =>
      closing(1008, 'SUBSCRIBE_TIMEOUT', () => {}, { limits: { subscribeTimeoutMs: 30, tickMs: 10 } }).then(() => {}));
    for (const [what, frame] of [
      ['is not JSON', '{'],
      ['has the same key twice', `{"type":"subscribe","afterSyncId":"0","token":"${randomUUID()}","token":"${user}"}`],
      ['is nested deeper than any frame', `{"type":"subscribe","more":${'['.repeat(100)}${']'.repeat(100)}}`],
      ['holds half a surrogate pair', '{"type":"later","text":"\\ud800"}'],
      ['is not an object', '[]'],
      ['has no type', '{}'],
      ['has no cursor', { ...subscribe, afterSyncId: undefined }],
      ['has a negative cursor', { ...subscribe, afterSyncId: '-1' }],
      ['has a cursor that is a number', { ...subscribe, afterSyncId: 1 }],
      ['has a cursor larger than any position', { ...subscribe, afterSyncId: '9'.repeat(19) }],
      ['has groups that are no list', { ...subscribe, groups: 'all' }],
      ['has an unknown spelling', { ...subscribe, actions: 'runes' }],
      ['has an unknown type and is the first', { ...subscribe, type: 'SUBSCRIBE' }],
    ] as const) {
      it(`when a frame ${what} [sync.socket.bad-frame]`, () =>
        closing(1008, 'INVALID_FRAME', (socket) => socket.send(frame)).then(() => {}));
    }
    it('when the token in the frame is missing [sync.socket.frame-token]', () =>
      closing(1008, 'UNAUTHORIZED', (socket) => socket.send({ ...subscribe, token: undefined })).then(() => {}));
    it('when the token in the frame is not valid [sync.socket.frame-token]', () =>
      closing(1008, 'UNAUTHORIZED', (socket) => socket.send({ ...subscribe, token: 'none' })).then(() => {}));
    it('when the token in the frame is of another person [sync.socket.frame-token]', () =>
      closing(1008, 'UNAUTHORIZED', (socket) => socket.send({ ...subscribe, token: randomUUID() })).then(() => {}));
    it('when the token in the frame has no scope read [sync.socket.frame-token]', () =>
      closing(1008, 'UNAUTHORIZED', (it) => it.send({ ...subscribe, token: `${user} reading nothing` })).then(
        () => {},
      ));
    it('when the token expires [sync.socket.credential-dies]', async () => {
      const token = `${user} until ${Math.floor(Date.now() / 1000) + 1}`;
      const options = { limits: { tickMs: 10 }, token };
      await closing(1008, 'UNAUTHORIZED', (socket) => socket.send({ ...subscribe, token }), options);
    });
    it('when the credential is revoked [sync.socket.credential-dies]', () =>
      closing(1008, 'UNAUTHORIZED', async (socket, at) => {
        socket.send(subscribe);
        await socket.until(({ frames }) => frames.length > 0);
        at.socketServer.revoke({ kind: 'credential', credentialId: user });
      }).then(() => {}));
    it('when all credentials of its kind of the person are revoked, and not when those of another kind are [sync.socket.credential-dies]', async () => {
      const revoked = (ofKind: CredentialKind) => async (socket: LiveSocket, at: TestReplica) => {
        socket.send(subscribe);
        await socket.until(({ frames }) => frames.length > 0);
        at.socketServer.revoke({ kind: 'credential', userId: user, credentialKind: ofKind });
        if (ofKind !== 'jwt') await at.socketServer.drain(0);
      };
      await closing(1008, 'UNAUTHORIZED', revoked('jwt'));
      await closing(1012, 'RESTARTING', revoked('oauth'));
    });
    it('when the client sends too many frames [never.unbounded]', () =>
      closing(1008, 'TOO_MANY_FRAMES', (socket) => {
        socket.send(subscribe);
        for (let count = 0; count < 600; count += 1) socket.send({ type: 'doc_focus' });
      }).then(() => {}));
    it('when a frame is too large [sync.socket.frame-max]', () =>
      closing(1009, 'PROTOCOL_ERROR', (socket) => socket.send({ type: 'x'.repeat(70_000) })).then(() => {}));
    it('when the server restarts, so that clients connect to another replica [sync.socket.drain]', async () => {
      const socket = await closing(1012, 'RESTARTING', async (it, at) => {
        it.send(subscribe);
        await it.until(({ frames }) => frames.length > 0);
        await at.socketServer.drain(50);
      });
      assert.match(String(socket.frames.at(-1)?.['lastSyncId']), /^\d+$/);
    });
  });

  it('ignores frames of other features after the first one', async () => {
    const socket = await connect(await replica(), { subscribe: false });
    socket.send({ type: 'subscribe', afterSyncId: '0', token: user });
    socket.send({ type: 'yjs_update', payload: '' });
    await socket.until(({ actions }) => actions.length >= visible([user, workspace]).length);
    socket.send({ type: 'subscribe', afterSyncId: '0', token: user });
    await socket.until(({ frames }) => frames.filter(({ type }) => type === 'subscribed').length === 2);
  });

  it('confirms no subprotocol [sync.socket.no-subprotocol]', async () => {
    const at = await replica();
    const upgrade = request(`${at.baseUrl}/sync/ws?token=${user}`, {
      headers: {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-protocol': 'mqtt, graphql-ws',
      },
    }).end();
    const [answer, stream] = (await once(upgrade, 'upgrade')) as [IncomingMessage, Duplex];
    stream.destroy();
    assert.equal(answer.statusCode, 101);
    assert.equal(answer.headers['sec-websocket-protocol'], undefined);
  });

  describe('refuses an upgrade in the common error shape', () => {
    const good = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const cases: readonly [string, string, object, number, string][] = [
      ['without a principal', '/sync/ws', {}, 401, 'authorization_required'],
      ['on another path', '/sync/other?token=USER', {}, 404, 'not_found'],
      ['for an unknown spelling', '/sync/ws?token=USER&actions=runes', {}, 400, 'validation_failed'],
      ['of another version', '/sync/ws?token=USER', { 'sec-websocket-version': '12' }, 426, 'upgrade_required'],
      ['without a key', '/sync/ws?token=USER', { 'sec-websocket-key': '' }, 400, 'malformed_request'],
    ];
    for (const [what, path, headers, status, code] of cases) {
      it(what, async () => {
        const at = await replica();
        const answer = await requestUpgrade(`${at.baseUrl}${path.replace('USER', user)}`, { ...good, ...headers });
        assert.equal(answer.status, status);
        assert.equal(answer.headers['api-version'], '1');
        assert.deepEqual(
          { ok: answer.body['ok'], code: answer.body['code'], statusCode: answer.body['statusCode'] },
          { ok: false, code, statusCode: status },
        );
      });
    }

    it('beyond the maximum of sockets, and while draining [never.unbounded]', async () => {
      const at = await replica({ socketsMax: 1 });
      await connect(at);
      const refused = await requestUpgrade(`${at.baseUrl}/sync/ws?token=${user}`, good);
      assert.equal(refused.status, 503);
      assert.match(String(refused.headers['retry-after']), /^[1-5]$/);
      await at.socketServer.drain(0);
      assert.equal((await requestUpgrade(`${at.baseUrl}/sync/ws?token=${user}`, good)).status, 503);
    });
  });
});

function requestUpgrade(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const upgrade = request(url, { headers });
    upgrade.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => {
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: JSON.parse(text) as Record<string, unknown>,
        });
      });
    });
    upgrade.on('upgrade', () => reject(new Error('it was upgraded')));
    upgrade.on('error', reject);
    upgrade.end();
  });
}
