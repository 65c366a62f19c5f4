import type { Person, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Pool } from 'undici';
import { sharedSystem } from './shared-system.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
}

/** A request about something foreign, and the same request about something that does not exist. */
interface Pair {
  readonly status: number;
  readonly there: () => Sent;
  readonly nowhere: () => Sent;
}

/** Pairs that differ by more than SUSPICIOUS, in standard deviations of a fair coin, are measured longer, because small differences add up. */
const PAIRS = 60;
const SUSPICIOUS = 2.4;
/** After so many most pairs are so near to a fair coin that more would not make them suspicious. */
const FIRST_PAIRS = 30;
const UNSUSPICIOUS = 1.2;
const PAIRS_OF_SUSPECTS = 1200;
/** Chance alone exceeds this once in many millions of runs. One more query to PostgreSQL exceeds it, but not always on a busy machine. */
const LEANING_MAX = 5.5;

/*
 * The time of a response must not show what exists. Single times vary too much, so the test sends both requests of a pair many
 * times in random order and counts which one is slower: when both take equally long, each is slower about half of the time.
 */
describe('the time of a response', () => {
  let testSystem: TestSystem;
  let pool: Pool;
  let eve: Person;
  let own: string;

  before(async () => {
    testSystem = await sharedSystem();
    pool = new Pool(testSystem.baseUrl, { connections: 1 });
    eve = await testSystem.person('Eve');
    own = (await testSystem.workspaceOf(eve)).id;
  });
  after(() => pool.close());

  async function send({ method, path, body, token = eve.token }: Sent): Promise<{ status: number; text: string }> {
    const answer = await pool.request({
      method,
      path,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  async function made<T>(sent: Sent): Promise<T> {
    const { status, text } = await send(sent);
    assert.ok(status < 300, text);
    return JSON.parse(text) as T;
  }

  async function timed(sent: Sent, status: number): Promise<number> {
    const started = performance.now();
    const answer = await send(sent);
    const took = performance.now() - started;
    assert.equal(answer.status, status, `${sent.method} ${sent.path}: ${answer.text}`);
    return took;
  }

  /** Above 0 when the first is slower more often than the second; near 0 when both are equal. */
  async function leaning(first: () => Promise<number>, second: () => Promise<number>): Promise<number> {
    let [slower, lean] = [0, 0];
    const isOpen = (count: number): boolean => {
      const far = Math.abs(lean);
      if (count === FIRST_PAIRS + 1) return far > UNSUSPICIOUS;
      return count <= PAIRS || (far > SUSPICIOUS && far < 1.5 * LEANING_MAX && count <= PAIRS_OF_SUSPECTS);
    };
    for (let count = 1; isOpen(count); count += 1) {
      const [one, other] = Math.random() < 0.5 ? [first, second] : [second, first];
      const took = new Map([[one, await one()]]);
      took.set(other, await other());
      if ((took.get(first) ?? 0) > (took.get(second) ?? 0)) slower += 1;
      lean = (slower - count / 2) / (Math.sqrt(count) / 2);
    }
    return lean;
  }

  async function assertEqualTimes(pairs: Readonly<Record<string, Pair>>): Promise<void> {
    for (const [what, { status, there, nowhere }] of Object.entries(pairs)) {
      // The first requests open connections.
      for (const sent of [there(), nowhere()]) await timed(sent, status);
      const lean = await leaning(
        () => timed(there(), status),
        () => timed(nowhere(), status),
      );
      assert.ok(Math.abs(lean) < LEANING_MAX, `${what}: existing and missing differ by ${lean.toFixed(1)} deviations`);
    }
  }

  const by = (method: string, path: string, body?: object): Sent => ({
    method,
    path,
    ...(body === undefined ? {} : { body }),
  });

  it('that differs is detected by this measure, also on a busy machine', async () => {
    const once = (): Promise<number> => timed(by('GET', `/api/workspaces/${randomUUID()}/members`), 404);
    const lean = await leaning(async () => (await once()) + (await once()) + (await once()), once);
    assert.ok(lean > LEANING_MAX, String(lean));
  });

  it('does not show whether foreign workspaces, people and invitations exist [never.shown-outside]', async () => {
    const owner = await testSystem.person('Owner');
    const { id, urlKey } = await testSystem.workspaceOf(owner);
    const path = `/api/workspaces/${id}/invitations`;
    const open = await made<{ invitation: { id: string } }>({ ...by('POST', path, {}), token: owner.token });
    const leaver = await testSystem.member('Leaver', 'admin', id);
    const orphan = await made<{ invitation: { code: string } }>({ ...by('POST', path, {}), token: leaver.token });
    await made({ ...by('DELETE', `/api/workspaces/${id}/members/${leaver.userId}`), token: leaver.token });
    const code = (): string => randomBytes(24).toString('base64url').slice(0, orphan.invitation.code.length);

    const pairOf = (make: (value: string) => Sent, foreign: string, other: () => string = randomUUID): Pair => ({
      status: 404,
      there: () => make(foreign),
      nowhere: () => make(other()),
    });
    await assertEqualTimes({
      'members of a workspace': pairOf((one) => by('GET', `/api/workspaces/${one}/members`), id),
      'inviting into a workspace': pairOf((one) => by('POST', `/api/workspaces/${one}/invitations`, {}), id),
      'a workspace by its slug': pairOf(
        (one) => by('GET', `/api/workspaces/by-slug/${one}`),
        urlKey,
        () => `w-${randomUUID().slice(0, 18)}`,
      ),
      'removing a person': pairOf((one) => by('DELETE', `/api/workspaces/${own}/members/${one}`), owner.userId),
      'deleting an invitation': pairOf(
        (one) => by('DELETE', `/api/workspaces/${own}/invitations/${one}`),
        open.invitation.id,
      ),
      'a code whose creator has left': pairOf(
        (one) => by('POST', '/api/workspaces/join', { code: one }),
        orphan.invitation.code,
        code,
      ),
    });
  });

  it('does not show whether keys exist, or how much of a key was guessed [never.shown-outside]', async () => {
    const owner = await testSystem.person('Owner');
    const { id: workspaceId } = await testSystem.workspaceOf(owner);
    const wide = await testSystem.keyOf(owner, { permissions: 'full-access' });
    const narrow = await testSystem.keyOf(owner, { permissions: 'full-access', workspaceId });
    const ended = await testSystem.keyOf(owner, { permissions: 'full-access' });
    await made({ ...by('DELETE', `/api/auth/keys/${ended.id}`), token: owner.token });
    const revoking = (keyId: string): Pair => ({
      status: 404,
      there: () => by('DELETE', `/api/auth/keys/${keyId}`),
      nowhere: () => by('DELETE', `/api/auth/keys/${randomUUID()}`),
    });
    const calling = (token: () => string): Pair => ({
      status: 401,
      there: () => ({ ...by('GET', '/api/workspaces'), token: token() }),
      nowhere: () => ({ ...by('GET', '/api/workspaces'), token: keyLike('') }),
    });
    await assertEqualTimes({
      'revoking a key': revoking(wide.id),
      'revoking a key for one workspace': revoking(narrow.id),
      'revoking a key that was revoked': revoking(ended.id),
      // Each token is used once, because the gateway caches refusals for a moment.
      'calling with most of a key': calling(() => keyLike(wide.token.slice(0, 40))),
      'calling with most of a key that was revoked': calling(() => keyLike(ended.token.slice(0, 40))),
    });
  });

  it('does not show whether foreign records and groups exist [never.shown-outside]', async () => {
    const owner = await testSystem.person('Owner');
    const { id: workspaceId } = await testSystem.workspaceOf(owner);
    const project = await testSystem.put('Project', { workspaceId, key: 'P', name: 'P' });
    const task = await testSystem.put('Task', { workspaceId, title: 'T', projectId: project });
    const mutate = (transaction: object): Sent =>
      by('POST', '/sync/mutate', {
        batchId: 'time',
        transactions: [
          { clientTxId: randomUUID(), clientId: 'time', modelId: randomUUID(), action: 'INSERT', ...transaction },
        ],
      });
    const pairOf = (make: (value: string) => Sent, foreign: string): Pair => ({
      status: 200,
      there: () => make(foreign),
      nowhere: () => make(randomUUID()),
    });
    const batch = (request: object): Sent => by('POST', '/sync/batch', { requests: [request] });
    await assertEqualTimes({
      'loading a group': pairOf((one) => by('GET', `/sync/bootstrap?syncGroups=${one}`), workspaceId),
      'a record by its id': pairOf((one) => batch({ modelName: 'Task', indexedKey: 'id', keyValue: one }), task),
      'records of a parent': pairOf(
        (one) => batch({ modelName: 'Task', indexedKey: 'projectId', keyValue: one }),
        project,
      ),
      'memberships of a person': pairOf(
        (one) => batch({ modelName: 'WorkspaceMember', indexedKey: 'userId', keyValue: one }),
        owner.userId,
      ),
      'changing a record': pairOf(
        (modelId) => mutate({ modelName: 'Task', modelId, action: 'UPDATE', payload: { title: 'x' } }),
        task,
      ),
      'pointing to a record': pairOf(
        (projectId) => mutate({ modelName: 'Task', payload: { workspaceId: own, title: 'x', projectId } }),
        project,
      ),
      'giving a task to a person': pairOf(
        (assigneeId) => mutate({ modelName: 'Task', payload: { workspaceId: own, title: 'x', assigneeId } }),
        owner.userId,
      ),
    });
  });
});

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A key that does not exist, with a correct checksum, so that the service looks it up. */
function keyLike(beginning: string): string {
  let text = 'wts_';
  while (text.length < 'wts_'.length + 43) text += ALPHABET[randomBytes(1).readUInt8() % 62];
  // Every key is built in the same way, because work before a request could change the time of its response.
  text = beginning + text.slice(beginning.length);
  let [rest, sum] = [crc32(text), ''];
  for (; rest > 0; rest = Math.floor(rest / 62)) sum = `${ALPHABET[rest % 62]}${sum}`;
  return text + sum.padStart(6, '0');
}
