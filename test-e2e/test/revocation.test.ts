import { LIMITS } from '@wts/contracts';
import type { AppTokens, LiveSocket, Person, TestSystem } from '@wts/testkit';
import { eventually, sendRequest, socketOf } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { replicatedSystem } from './replicated-system.ts';

/** A revocation takes effect everywhere within a second; on a busy machine later, but before the cache of a credential expires. */
const REVOKED_WITHIN_MS = LIMITS.credentialCacheMs * 0.6;
/** The most that one request takes on a busy machine. */
const REQUEST_MS = 10_000;
const EVERY = { everyMs: 200 };

/** A system with several gateways and sync replicas. */
class Gateways {
  readonly testSystem: TestSystem;
  readonly #urls: readonly string[];

  constructor(testSystem: TestSystem) {
    this.testSystem = testSystem;
    this.#urls = testSystem.services.filter(({ name }) => name.startsWith('gateway')).map(({ url }) => url);
  }

  /** Sends the request to each gateway. */
  async requestAll(token: string, path: string): Promise<{ status: number; text: string }[]> {
    return Promise.all(this.#urls.map((baseUrl) => sendRequest({ baseUrl, token }, 'GET', path)));
  }

  /** Opens two sockets through each gateway, so that each of two sync replicas has some. */
  connect(token: string): Promise<LiveSocket[]> {
    return Promise.all([...this.#urls, ...this.#urls].map((baseUrl) => socketOf({ baseUrl }, { token })));
  }

  /** Revokes a key and an app, and asserts that both end everywhere within this time, and no other key and app of the person. */
  async assertEnded(withinMs: number): Promise<void> {
    const ann = await this.testSystem.member('Ann');
    const key = await this.testSystem.keyOf(ann, { permissions: 'full-access' });
    const app = await this.testSystem.appOf(ann, 'read write');
    const otherKey = await this.testSystem.keyOf(ann, { permissions: 'read-only' });
    const otherApp = await this.testSystem.appOf(ann, 'read');
    const [ofKey = [], ofApp = [], ...others] = await Promise.all(
      [key.token, app.accessToken, otherKey.token, otherApp.accessToken].map((token) => this.connect(token)),
    );
    // Both gateways then have them in their caches.
    for (const token of [key.token, app.accessToken])
      for (const { status } of await this.requestAll(token, '/api/workspaces')) assert.equal(status, 200);
    const untilMs = (await this.end(ann.token, `/api/auth/keys/${key.id}`)) + withinMs;
    const untilOfAppMs = (await this.endApp(app)) + withinMs;
    await Promise.all([
      this.assertRefused(key.token, untilMs),
      this.assertClosed(ofKey, untilMs),
      this.assertRefused(app.accessToken, untilOfAppMs, 'Invalid token'),
      this.assertClosed(ofApp, untilOfAppMs),
    ]);
    for (const socket of others.flat()) {
      assert.equal(socket.ended(), null, 'another key or app of the same person is still valid');
      await socket.close();
    }
  }

  /** Deletes something. Resolves to the time of the response. */
  async end(token: string, path: string): Promise<number> {
    const { status, text } = await this.testSystem.request(token, 'DELETE', path);
    assert.equal(status, 200, text);
    return performance.now();
  }

  /** Requests that are sent later than this get 401 from each gateway. */
  async assertRefused(token: string, untilMs: number, error = 'Invalid API key'): Promise<void> {
    const refused = this.#urls.map((baseUrl) =>
      eventually(async () => {
        const isLate = performance.now() > untilMs;
        const reply = await sendRequest({ baseUrl, token }, 'GET', '/api/workspaces');
        return reply.status === 200 && !isLate ? null : reply;
      }, EVERY),
    );
    for (const { status, text } of await Promise.all(refused)) {
      assert.equal(status, 401, `let in ${Math.round(performance.now() - untilMs)} ms too late`);
      assert.match(text, new RegExp(`"error":"${error}"`));
    }
  }

  /** Ends what a person allowed an app, by a refresh token that is used twice. Resolves to the time of the response. */
  async endApp({ refreshToken, clientId }: AppTokens): Promise<number> {
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId });
    const statuses: number[] = [];
    for (let use = 0; use < 2; use += 1)
      statuses.push((await fetch(`${this.testSystem.authUrl}/token`, { method: 'POST', body })).status);
    assert.deepEqual(statuses, [200, 400]);
    return performance.now();
  }

  async assertClosed(sockets: readonly LiveSocket[], untilMs: number): Promise<void> {
    for (const socket of sockets) {
      await socket.until(({ ended }) => ended() !== null, Math.max(1, untilMs - performance.now()));
      assert.equal(socket.ended()?.code, 1008);
    }
  }

  label(workspaceId: string, name: string): Promise<unknown> {
    return this.testSystem.put('Label', { workspaceId, name });
  }

  /** A member of the demo workspace who also has an own workspace and a full key. */
  async createLeaver(): Promise<{ person: Person; token: string; own: string }> {
    const person = await this.testSystem.member('Eve');
    const { token } = await this.testSystem.keyOf(person, { permissions: 'full-access' });
    return { person, token, own: (await this.testSystem.workspaceOf(person)).id };
  }

  /** Removes a member, and asserts that no socket and no request of that person gets later changes. */
  async assertShutOut(isAnnounced: boolean): Promise<void> {
    const { workspaceId, apiKey } = this.testSystem;
    const { person, token, own } = await this.createLeaver();
    const { token: limited } = await this.testSystem.keyOf(person, { permissions: 'full-access', workspaceId });
    const [sockets, narrow] = [await this.connect(token), await this.connect(limited)];
    const members = `/api/workspaces/${workspaceId}/members`;
    for (const { status } of await this.requestAll(token, members)) assert.equal(status, 200);

    const endedAt = await this.end(apiKey, `${members}/${person.userId}`);
    const [secret, marker] = [`secret-${randomUUID()}`, `marker-${randomUUID()}`];
    await this.label(workspaceId, secret);
    await this.label(own, marker);
    // The same holds for a session token.
    for (const key of [token, limited, person.token]) {
      for (const { status } of await this.requestAll(key, members)) assert.equal(status, 404);
      for (const path of ['/sync/bootstrap', '/sync/deltas', '/api/workspaces']) {
        for (const { text } of await this.requestAll(key, path)) {
          assert.ok(!text.includes(secret), path);
          if (path === '/api/workspaces') assert.ok(!text.includes(workspaceId));
        }
      }
    }
    // A socket that receives the later change but not the earlier one never receives the earlier one.
    for (const socket of sockets) {
      const received = await eventually(() => {
        const frames = JSON.stringify(socket.frames);
        return socket.ended() !== null || frames.includes(marker) ? frames : undefined;
      });
      assert.ok(!received.includes(secret));
    }
    // The server closes sockets whose credential is only for this workspace.
    if (isAnnounced) await this.assertClosed(narrow, endedAt + REVOKED_WITHIN_MS);
    for (const socket of narrow) assert.ok(!JSON.stringify(socket.frames).includes(secret));
    for (const socket of [...sockets, ...narrow]) await socket.close();
  }
}

describe('a revocation at one of two gateways', () => {
  let gateways: Gateways;
  before(async () => {
    gateways = new Gateways(await replicatedSystem());
  });

  it('takes effect at both within a second: a revoked key and the tokens of a revoked app are refused, and their sockets are closed [api-keys.revoke.everywhere, authentication.oauth.revoked, sync.socket.credential-dies]', () =>
    gateways.assertEnded(REVOKED_WITHIN_MS));

  it('takes effect at both within a second: a disabled person has no key, app and token of an issuer, and no socket [operator.disable.everywhere]', async () => {
    const { testSystem } = gateways;
    const ann = await testSystem.member('Ann');
    const { token } = await testSystem.keyOf(ann, { permissions: 'full-access' });
    const { accessToken } = await testSystem.appOf(ann, 'read write');
    const credentials = [token, accessToken, ann.token];
    const sockets = (await Promise.all(credentials.map((one) => gateways.connect(one)))).flat();
    for (const one of credentials)
      for (const { status } of await gateways.requestAll(one, '/api/workspaces')) assert.equal(status, 200);
    const operate = (path: string) =>
      sendRequest(
        { baseUrl: testSystem.authUrl, token: operatorToken },
        'POST',
        `/operator/people/${ann.userId}/${path}`,
      );
    const operatorToken = await testSystem.operatorToken();
    const { status, text } = await operate('disabling');
    assert.equal(status, 200, text);
    const untilMs = performance.now() + REVOKED_WITHIN_MS;
    await Promise.all([
      gateways.assertRefused(token, untilMs),
      gateways.assertRefused(accessToken, untilMs, 'Invalid token'),
      gateways.assertRefused(ann.token, untilMs, 'Invalid token'),
      gateways.assertClosed(sockets, untilMs),
    ]);
    assert.equal((await operate('enabling')).status, 200);
    // A refusal is remembered for a second.
    await eventually(async () =>
      (await gateways.requestAll(token, '/api/workspaces')).every((one) => one.status === 200),
    );
    await gateways.assertRefused(accessToken, performance.now(), 'Invalid token');
  });

  it('takes effect at both immediately: a removed member receives and reads nothing more [workspaces.members.cut-off]', () =>
    gateways.assertShutOut(true));
});

describe('a revocation whose message over NATS is lost', () => {
  let gateways: Gateways;
  before(async () => {
    gateways = new Gateways(await replicatedSystem());
    for (const wire of wires()) wire.cut();
  });
  after(() => {
    for (const wire of wires()) wire.mend();
  });

  /** Only the services that send the messages cannot reach NATS. */
  const wires = () => ['auth', 'workspace'].map((service) => gateways.testSystem.wire(service, 'nats'));

  it('takes effect within five seconds: a revoked key and the tokens of a revoked app are refused, and their sockets are closed [api-keys.revoke.everywhere, authentication.oauth.revoked, sync.socket.credential-dies]', () =>
    gateways.assertEnded(LIMITS.credentialCacheMs + REQUEST_MS));

  it('takes effect immediately through the log: a removed member receives and reads nothing more [workspaces.members.cut-off]', () =>
    gateways.assertShutOut(false));
});
