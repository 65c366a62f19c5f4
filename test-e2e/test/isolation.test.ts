import type { Role, Scope } from '@wts/contracts';
import type { Person, Reply, TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { expectedOf, mayWrite, ACCESS_RULES, type TestCaller, type WorkspaceIds } from './access-rules.ts';
import { sharedSystem } from './shared-system.ts';

interface Described {
  readonly operationId: string;
  readonly method: string;
  readonly scope: string;
}

/** Headers that differ from one response to the next. */
const PASSING_HEADERS = /^(date|x-request-id|retry-after|(x-)?ratelimit(-.*)?)$/;

/** A workspace with its owner and a record that others must not read. */
interface Home {
  readonly id: string;
  readonly urlKey: string;
  readonly secret: string;
  readonly owner: Person;
  readonly invitationId: string;
  readonly keyId: string;
  readonly projectId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
}

const ALL = ['read', 'write', 'admin'] as const;
const KINDS = [
  'full key',
  'read-only key',
  'session',
  'key for one workspace',
  'token of an app to read',
  'token of an app to write',
] as const;
/** Of other roles than the owner, because a role has nothing to do with the kind of a credential that has the same scopes. */
const KINDS_OF_OTHERS: readonly string[] = ['full key', 'key for one workspace', 'token of an app to write'];
const SCOPES_OF: Partial<Record<(typeof KINDS)[number], readonly Scope[]>> = {
  'read-only key': ['read'],
  'token of an app to read': ['read'],
  'token of an app to write': ['read', 'write'],
};

describe('access to a workspace', () => {
  let testSystem: TestSystem;
  let operations: readonly Described[];
  let homes: { readonly A: Home; readonly B: Home };
  /** By role and kind of credential. */
  const callers = new Map<string, TestCaller & { readonly token: string }>();

  before(async () => {
    testSystem = await sharedSystem();
    operations = describedIn(JSON.parse((await request(null, 'GET', '/openapi.json')).text));
    homes = { A: await home(), B: await home() };
    for (const role of ['owner', 'admin', 'member', 'guest', null] as const) await admit(role);
  });

  const request = (token: string | null, method: string, path: string, body?: object): Promise<Reply> =>
    testSystem.request(token, method, path, { body });

  async function make(owner: Person): Promise<{ id: string; urlKey: string; secret: string }> {
    const secret = `secret-${randomUUID()}`;
    const made = await testSystem.workspaceOf(owner, secret);
    await testSystem.put('Label', { workspaceId: made.id, name: secret });
    return { ...made, secret };
  }

  async function home(): Promise<Home> {
    const owner = await testSystem.person('Owner');
    const made = await make(owner);
    const { id: keyId } = await testSystem.keyOf(await testSystem.member('Bystander', 'member', made.id), {
      permissions: 'full-access',
    });
    const payload = { workspaceId: made.id, key: 'HIDDEN', name: made.secret, isPrivate: true };
    const { modelId: projectId } = await testSystem.mutate(owner.token, { modelName: 'Project', payload });
    const ids = { keyId, projectId, invitationId: await invitationOf(owner, made.id) };
    const endpointId = await endpointOf(owner, made.id);
    const queued = await request(owner.token, 'POST', `/api/webhooks/${endpointId}/test`);
    const deliveryId = (queued.json() as { delivery: { id: string } }).delivery.id;
    return { ...made, owner, ...ids, endpointId, deliveryId };
  }

  async function admit(role: Role | null): Promise<void> {
    const who =
      role === 'owner'
        ? homes.A.owner
        : role === null
          ? await testSystem.person('Outsider')
          : await testSystem.member(role, role, homes.A.id);
    const own = role === null ? (await make(who)).id : homes.A.id;
    const full = await testSystem.keyOf(who, { permissions: 'full-access' });
    const read = await testSystem.keyOf(who, { permissions: 'read-only' });
    const one = await testSystem.keyOf(who, { permissions: 'full-access', workspaceId: own });
    const [reads, writes] = [await testSystem.appOf(who, 'read'), await testSystem.appOf(who, 'read write')];
    const tokens = [full.token, read.token, who.token, one.token, reads.accessToken, writes.accessToken];
    for (const [index, kind] of KINDS.entries()) {
      if (role !== 'owner' && !KINDS_OF_OTHERS.includes(kind)) continue;
      callers.set(`${role ?? 'outsider'} with a ${kind}`, {
        role,
        scopes: SCOPES_OF[kind] ?? ALL,
        isRestricted: kind === 'key for one workspace',
        token: tokens[index] ?? '',
      });
    }
  }

  /** An endpoint where nothing listens. */
  async function endpointOf(owner: Person, workspaceId: string): Promise<string> {
    const body = { workspaceId, url: 'https://127.0.0.1:1024/' };
    const made = await request(owner.token, 'POST', '/api/webhooks', body);
    return (made.json() as { endpoint: { id: string } }).endpoint.id;
  }

  async function invitationOf(owner: Person, workspaceId: string): Promise<string> {
    const made = await request(owner.token, 'POST', `/api/workspaces/${workspaceId}/invitations`, {});
    return (made.json() as { invitation: { id: string } }).invitation.id;
  }

  const idsIn = ({ id, owner, secret: _secret, ...home }: Home): WorkspaceIds => ({
    ...home,
    workspaceId: id,
    ownerId: owner.userId,
    unique: randomUUID(),
  });

  /** New ones for an operation that ends what it is about, or that can be made a few times only. */
  async function newIds({ id, owner }: Home, operationId: string): Promise<Partial<WorkspaceIds>> {
    if (operationId === 'deleteInvitation') return { invitationId: await invitationOf(owner, id) };
    const isOfEndpoint = ['deleteWebhookEndpoint', 'rotateWebhookSecret'].includes(operationId);
    return isOfEndpoint ? { endpointId: await endpointOf(owner, id) } : {};
  }

  it('is tested for every operation of the description with its scope [authentication.scopes.missing, authentication.scopes.write-includes-read]', () => {
    const tested = Object.fromEntries(Object.entries(ACCESS_RULES).map(([id, { scope }]) => [id, scope]));
    assert.deepEqual(Object.fromEntries(operations.map(({ operationId, scope }) => [operationId, scope])), tested);
  });

  it('needs a credential for every operation [authentication.bearer.every-call, sync.auth.each-call]', async () => {
    const ids = idsIn(homes.A);
    for (const { operationId, method } of operations) {
      const { scope, path, body } = ACCESS_RULES[operationId] as (typeof ACCESS_RULES)[string];
      const answer = await request(null, method, path(ids), body?.(ids));
      const wanted = operationId === 'syncSocket' ? 426 : scope === 'none' ? 200 : 401;
      assert.equal(answer.status, wanted, operationId);
    }
  });

  it('follows the rules for two workspaces, five roles, six kinds of credentials and every operation [authentication.scopes.admin-api-keys-only, never.shown-outside, workspaces.roles.manage]', async () => {
    let cells = 0;
    const faults: string[] = [];
    for (const [name, caller] of callers) {
      // No caller has a role in B, and an outsider has none in A: one caller with a role in A is enough.
      for (const where of caller.role === 'admin' ? (['A', 'B'] as const) : (['A'] as const)) {
        const answers = operations.map(async (operation) => {
          cells += 1;
          const fault = await tryCell(operation, caller, where);
          if (fault !== null) faults.push(`${name}, ${operation.operationId} of ${where}: ${fault}`);
        });
        await Promise.all(answers);
      }
    }
    assert.deepEqual(faults, []);
    assert.equal(cells, (KINDS.length + 5 * KINDS_OF_OTHERS.length) * operations.length);
  });

  async function tryCell(
    { operationId, method }: Described,
    caller: TestCaller & { readonly token: string },
    where: 'A' | 'B',
  ): Promise<string | null> {
    const operation = ACCESS_RULES[operationId] as (typeof ACCESS_RULES)[string];
    const isForeign = where === 'B';
    const wanted = expectedOf(operation, caller, isForeign);
    const own = wanted.status < 300 ? await newIds(homes[where], operationId) : {};
    const ids = { ...idsIn(homes[where]), ...own };
    const { status, text } = await request(caller.token, method, operation.path(ids), operation.body?.(ids));
    if (own.endpointId !== undefined)
      await request(homes[where].owner.token, 'DELETE', `/api/webhooks/${own.endpointId}`);
    if (status !== wanted.status) return `answered ${status} instead of ${wanted.status}: ${text.slice(0, 200)}`;
    const hidden = caller.role === null ? [homes.A, homes.B] : [homes.B];
    if (hidden.some(({ secret }) => text.includes(secret))) return 'showed content of the workspace';
    if (wanted.code !== undefined && !text.includes(`"code":"${wanted.code}"`)) return `is no ${wanted.code}: ${text}`;
    if (operationId === 'syncMutate' && status === 200) {
      const { success } = JSON.parse(text) as { success: boolean };
      if (success !== mayWrite(caller, isForeign)) return `success is ${success}`;
    }
    return null;
  }

  it('gets the same status, headers and body for a foreign workspace and for one that does not exist [never.shown-outside]', async () => {
    const caller = callers.get('admin with a full key');
    const foreign = idsIn(homes.B);
    const missing: WorkspaceIds = {
      ...foreign,
      workspaceId: randomUUID(),
      urlKey: `w-${randomUUID().slice(0, 18)}`,
      invitationId: randomUUID(),
      ownerId: randomUUID(),
      keyId: randomUUID(),
      projectId: randomUUID(),
      endpointId: randomUUID(),
      deliveryId: randomUUID(),
    };
    for (const { operationId, method } of operations) {
      const { path, body, scope } = ACCESS_RULES[operationId] as (typeof ACCESS_RULES)[string];
      // These operations are about the caller, and create something.
      if (scope === 'none' || ['createWorkspace', 'createApiKey'].includes(operationId)) continue;
      const one = await request(caller?.token ?? '', method, path(foreign), body?.(foreign));
      const other = await request(caller?.token ?? '', method, path(missing), body?.(missing));
      assert.equal(one.status, other.status, operationId);
      if (one.status < 400) continue;
      const bodyOf = (reply: Reply): object => ({ ...(JSON.parse(reply.text) as object), requestId: '' });
      assert.deepEqual(bodyOf(one), bodyOf(other), operationId);
      // This includes the length of the body.
      const headersOf = ({ headers }: Reply): object =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !PASSING_HEADERS.test(name)));
      assert.deepEqual(headersOf(one), headersOf(other), operationId);
    }
  });

  it('is refused to a token of an app before it is looked up, also in GraphQL [authentication.scopes.missing, authentication.scopes.admin-api-keys-only]', async () => {
    const query = 'mutation ($id: ID!) { apiKeyRevoke(id: $id) { success error { code } } }';
    for (const kind of ['read', 'write']) {
      const { token } = callers.get(`owner with a token of an app to ${kind}`) ?? assert.fail();
      const answers = [homes.A.keyId, homes.B.keyId, randomUUID()].map(async (id) => {
        const { text } = await request(token, 'POST', '/graphql', { query, variables: { id } });
        return text.replaceAll(/"requestId":"[^"]*"/g, '');
      });
      const [first = '', ...others] = await Promise.all(answers);
      assert.match(first, /FORBIDDEN|insufficient_scope/i);
      assert.doesNotMatch(first, /"success":true/);
      for (const other of others) assert.equal(other, first);
    }
  });

  it('does not find content of one workspace under the path of another [never.shown-outside]', async () => {
    const owner = callers.get('owner with a full key')?.token ?? '';
    const inB = homes.B;
    const mixed = [
      `/api/workspaces/${homes.A.id}/invitations/${inB.invitationId}`,
      `/api/workspaces/${homes.A.id}/members/${homes.B.owner.userId}`,
      `/api/workspaces/${homes.A.id}/private-projects/${homes.B.projectId}/members/${homes.B.owner.userId}`,
    ];
    for (const path of mixed) assert.equal((await request(owner, 'DELETE', path)).status, 404, path);
    const delivery = `/api/webhooks/${homes.A.endpointId}/deliveries/${homes.B.deliveryId}`;
    assert.equal((await request(owner, 'GET', `${delivery}/attempts`)).status, 404);
    assert.equal((await request(owner, 'POST', `${delivery}/retry`)).status, 404);
    const list = await request(homes.B.owner.token, 'GET', `/api/workspaces/${homes.B.id}/invitations`);
    assert.ok(list.text.includes(inB.invitationId), 'it still exists');
  });
});

function describedIn(description: unknown): Described[] {
  const { paths } = description as { paths: Record<string, Record<string, Record<string, unknown>>> };
  return Object.values(paths).flatMap((path) =>
    Object.entries(path).map(([method, operation]) => ({
      operationId: String(operation['operationId']),
      method: method.toUpperCase(),
      scope: (operation['x-required-scope'] as string | undefined) ?? 'none',
    })),
  );
}
