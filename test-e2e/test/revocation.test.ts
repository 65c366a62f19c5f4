import { LIMITS } from '@wts/contracts';
import type { LiveSocket, Person, TestSystem, TestSystemOptions } from '@wts/testkit';
import { eventually, sendRequest, socketOf, startTestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

/** The promise: what has ended is over everywhere this long after whoever ended it was answered. */
const NEWS_MS = 1_000;
/** What a request and its answer may take on a machine that does other things. */
const ASKING_MS = 1_000;

/** Two gateways before two sync replicas. */
class Doors {
  readonly testSystem: TestSystem;
  readonly #urls: readonly string[];

  constructor(testSystem: TestSystem) {
    this.testSystem = testSystem;
    this.#urls = [0, 1].map((replica) => testSystem.service('gateway', replica).url);
  }

  static async open(label: string, options: TestSystemOptions = {}): Promise<Doors> {
    return new Doors(await startTestSystem({ label, syncReplicas: 2, gatewayReplicas: 2, ...options }));
  }

  /** Asks at both doors. */
  async askAll(token: string, path: string): Promise<{ status: number; text: string }[]> {
    return Promise.all(this.#urls.map((baseUrl) => sendRequest({ baseUrl, token }, 'GET', path)));
  }

  /** Two through each gateway, so that each sync replica has some. */
  connect(token: string): Promise<LiveSocket[]> {
    return Promise.all([...this.#urls, ...this.#urls].map((baseUrl) => socketOf({ baseUrl }, { token })));
  }

  /** Ends something; resolves with the time at which that was answered. */
  async end(token: string, path: string): Promise<number> {
    const { status, text } = await this.testSystem.request(token, 'DELETE', path);
    assert.equal(status, 200, text);
    return performance.now();
  }

  /** No request that is sent later than this is let in, at either door. */
  async refuses(token: string, untilMs: number): Promise<void> {
    const refused = this.#urls.map(async (baseUrl) => {
      for (;;) {
        const isLate = performance.now() > untilMs;
        const { status, text } = await sendRequest({ baseUrl, token }, 'GET', '/api/workspaces');
        if (status === 200 && !isLate) continue;
        assert.equal(status, 401, `let in ${Math.round(performance.now() - untilMs)} ms after the promise`);
        return assert.match(text, /"error":"Invalid API key"/);
      }
    });
    await Promise.all(refused);
  }

  async closes(sockets: readonly LiveSocket[], untilMs: number): Promise<void> {
    for (const socket of sockets) {
      await socket.until(({ ended }) => ended() !== null, Math.max(1, untilMs - performance.now()));
      assert.equal(socket.ended()?.code, 1008);
    }
  }

  label(workspaceId: string, name: string): Promise<unknown> {
    const payload = { workspaceId, name };
    return this.testSystem.commit([{ modelName: 'Label', modelId: randomUUID(), action: 'INSERT', payload }]);
  }

  /** A person of the demo workspace with one of their own and a full key. */
  async leaver(): Promise<{ person: Person; token: string; own: string }> {
    const person = await this.testSystem.member('Eve');
    const { token } = await this.testSystem.keyOf(person, { permissions: 'full-access' });
    const workspace = { name: 'Own', urlKey: `own-${randomUUID().slice(0, 8)}` };
    const made = await this.testSystem.request(person.token, 'POST', '/api/workspaces', { body: workspace });
    return { person, token, own: (made.json() as { workspace: { id: string } }).workspace.id };
  }

  /** Removes somebody, and shows that none of their sockets and requests gets anything that came after. */
  async shutsOut(isTold: boolean): Promise<void> {
    const { workspaceId, apiKey } = this.testSystem;
    const { person, token, own } = await this.leaver();
    const { token: limited } = await this.testSystem.keyOf(person, { permissions: 'full-access', workspaceId });
    const [sockets, narrow] = [await this.connect(token), await this.connect(limited)];
    const members = `/api/workspaces/${workspaceId}/members`;
    for (const { status } of await this.askAll(token, members)) assert.equal(status, 200);

    const endedAt = await this.end(apiKey, `${members}/${person.userId}`);
    const [secret, fence] = [`secret-${randomUUID()}`, `fence-${randomUUID()}`];
    await this.label(workspaceId, secret);
    await this.label(own, fence);
    // A session that is signed in knows no more of it than a key.
    for (const key of [token, limited, person.token]) {
      for (const { status } of await this.askAll(key, members)) assert.equal(status, 404);
      for (const path of ['/sync/bootstrap', '/sync/deltas', '/api/workspaces']) {
        for (const { text } of await this.askAll(key, path)) {
          assert.ok(!text.includes(secret), path);
          if (path === '/api/workspaces') assert.ok(!text.includes(workspaceId));
        }
      }
    }
    // Whoever hears the later change without the earlier one was not told of the earlier.
    for (const socket of sockets) {
      const heard = await eventually(() => {
        const said = JSON.stringify(socket.frames);
        return socket.ended() !== null || said.includes(fence) ? said : undefined;
      });
      assert.ok(!heard.includes(secret));
    }
    // A credential for this workspace alone has nothing left to hear.
    if (isTold) await this.closes(narrow, endedAt + NEWS_MS);
    for (const socket of narrow) assert.ok(!JSON.stringify(socket.frames).includes(secret));
    for (const socket of [...sockets, ...narrow]) await socket.close();
  }
}

describe('what ends at one of two gateways', () => {
  let doors: Doors;
  before(async function () {
    this.timeout(90_000);
    doors = await Doors.open('revocation');
  });
  after(() => doors.testSystem.close());

  it('is over at both within a second: a revoked key is refused, and its sockets are closed [api-keys.revoke.everywhere]', async () => {
    const { testSystem } = doors;
    const ann = await testSystem.member('Ann');
    const { id, token } = await testSystem.keyOf(ann, { permissions: 'full-access' });
    const other = await testSystem.keyOf(ann, { permissions: 'read-only' });
    const [sockets, others] = [await doors.connect(token), await doors.connect(other.token)];
    // Both gateways remember the key by now.
    for (const { status } of await doors.askAll(token, '/api/workspaces')) assert.equal(status, 200);

    const endedAt = await doors.end(ann.token, `/api/auth/keys/${id}`);
    await Promise.all([doors.refuses(token, endedAt + NEWS_MS), doors.closes(sockets, endedAt + NEWS_MS)]);
    for (const socket of others) {
      assert.equal(socket.ended(), null, 'the other key of the same person lives on');
      await socket.close();
    }
  });

  it('is over at both at once: a removed member hears and reads nothing more [workspaces.members.cut-off]', () =>
    doors.shutsOut(true));
});

describe('what ends while the news of it gets lost', () => {
  let doors: Doors;
  before(async function () {
    this.timeout(90_000);
    // The one who would tell it reaches no broker; everybody else does.
    doors = await Doors.open('unheard', { overrides: { workspace: { NATS_URL: 'nats://127.0.0.1:9' } } });
  });
  after(() => doors.testSystem.close());

  it('is over all the same within five seconds: a revoked key is refused, and its sockets are closed [api-keys.revoke.everywhere, sync.socket.credential-dies]', async () => {
    const { testSystem } = doors;
    const ann = await testSystem.member('Ann');
    const { id, token } = await testSystem.keyOf(ann, { permissions: 'full-access' });
    const other = await testSystem.keyOf(ann, { permissions: 'read-only' });
    const [sockets, others] = [await doors.connect(token), await doors.connect(other.token)];
    const endedAt = await doors.end(ann.token, `/api/auth/keys/${id}`);
    const untilMs = endedAt + LIMITS.credentialCacheMs + ASKING_MS;
    await Promise.all([doors.refuses(token, untilMs), doors.closes(sockets, untilMs)]);
    for (const socket of others) {
      assert.equal(socket.ended(), null);
      await socket.close();
    }
  });

  it('is over at once where the log tells it: a removed member hears and reads nothing more [workspaces.members.cut-off]', () =>
    doors.shutsOut(false));
});
