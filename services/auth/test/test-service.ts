import { readApiKey, servicePrincipal } from '@wts/access';
import { credentialApi, syncApi, type InternalMutation, type Principal, type Role } from '@wts/contracts';
import { startService, type RunningService } from '@wts/service-kit/life';
import { compile } from '@wts/service-kit/routes';
import {
  type Backends,
  callOperation,
  openBackends,
  ServiceUnderTest,
  sessionOf,
  type TestPerson,
  tokenEnvironment,
} from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { authService } from '../src/service.ts';

/** An auth service with a real PostgreSQL, NATS and sync service. */
export class TestService extends ServiceUnderTest<RunningService> {
  constructor(backends: Backends, service: RunningService) {
    super(backends, service, { name: 'auth', compile });
  }

  /** Another replica of the same service, with settings of its own; the caller closes its service. */
  async replica(settings: Record<string, string>): Promise<TestService> {
    return new TestService(this.backends, await startOn(this.backends, settings));
  }

  /** Signs a new person in, with all scopes. */
  async person(claims: { name?: string; email?: string } = {}): Promise<TestPerson> {
    const subject = randomUUID();
    const email = claims.email ?? `${subject}@example.com`;
    const name = `Person ${subject.slice(0, 8)}`;
    const body = { issuer: 'https://issuer.example', subject, name, emailVerified: true, ...claims, email };
    const { userId } = (await this.call(SERVICE, credentialApi.internalResolvePerson, { body })).body;
    return { userId, email, principal: sessionOf(userId) };
  }

  /** Creates a workspace with its owner and a person of each given role. */
  async workspace<R extends 'admin' | 'member' | 'guest'>(
    ...roles: readonly R[]
  ): Promise<{ readonly id: string; readonly owner: TestPerson } & Record<R, TestPerson>> {
    const [id, owner] = [randomUUID(), await this.person()];
    const people: Record<string, TestPerson> = {};
    for (const role of roles) people[role] = await this.person();
    const payload = { name: 'Platform', urlKey: `w-${id.slice(0, 18)}`, logoUrl: null };
    await this.commit([
      { modelName: 'Workspace', modelId: id, action: 'INSERT', payload },
      membershipOf(id, owner, 'owner'),
      ...roles.map((role) => membershipOf(id, people[role] as TestPerson, role)),
    ]);
    return { id, owner, ...(people as Record<R, TestPerson>) };
  }

  async addMember(workspaceId: string, userId: string, role: Role): Promise<void> {
    await this.commit([membershipOf(workspaceId, { userId }, role)]);
  }

  /** The record of a person in sync, with the rights of that service. */
  async recordOf(userId: string): Promise<Record<string, unknown> | undefined> {
    const sql = `select name, email, avatar_url as "avatarUrl" from sync.users where id = $1`;
    return (await this.backends.sqlAs('wts_sync')(sql, [userId]))[0];
  }

  /** The id of the person of an account. */
  async userOf({ id }: { readonly id: string }): Promise<string> {
    const [identity] = await this.backends.sql('select user_id from auth.identities where subject = $1', [id]);
    return String(identity?.['user_id']);
  }

  async recordOfAccount(account: { readonly id: string }): Promise<Record<string, unknown> | undefined> {
    return this.recordOf(await this.userOf(account));
  }

  /** Who calls with an API key; null for one that is not accepted. */
  async resolveKey(token: string): Promise<Principal | null> {
    const body = { tokenHash: readApiKey(token, 'wts_')?.hash ?? '' };
    return (await this.call(SERVICE, credentialApi.internalResolveApiKey, { body })).body.principal;
  }

  async removeMember(workspaceId: string, { userId }: TestPerson): Promise<void> {
    const sql = `select id from sync.workspace_members where workspace_id = $1 and user_id = $2`;
    const [found] = await this.backends.sqlAs('wts_sync')(sql, [workspaceId, userId]);
    const modelId = found?.['id'] as string;
    await this.commit([{ modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} }]);
  }

  /** Changes records as the workspace service does. */
  async commit(mutations: readonly InternalMutation[]): Promise<void> {
    const called = { url: this.backends.syncUrl, name: 'sync', compile } as const;
    const body = {
      clientId: 'test',
      clientTxId: randomUUID(),
      authority: 'service',
      mutations: [...mutations],
    } as const;
    const { status, text } = await callOperation(called, SERVICE, syncApi.internalCommit, { body });
    assert.equal(status, 200, text);
  }
}

function membershipOf(workspaceId: string, { userId }: Pick<TestPerson, 'userId'>, role: Role): InternalMutation {
  const payload = { workspaceId, userId, role };
  return { modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload };
}

export const SERVICE = servicePrincipal('test');

/** A hash of this cost takes 2 ms. An installation can choose none below 14, which takes 36 ms. */
export const TEST_COST_LOG2 = 10;

const cheapService: typeof authService = {
  ...authService,
  open: (kit, config) => authService.open(kit, { ...config, passwordCostLog2: TEST_COST_LOG2 }),
};

/** The same for all replicas, which read the same keys. */
const SECRET_KEY = randomBytes(32).toString('base64');

function startOn(backends: Backends, settings: Record<string, string> = {}): Promise<RunningService> {
  return startService(cheapService, {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'error',
    ...tokenEnvironment('auth'),
    DATABASE_URL: backends.databaseUrl,
    AUTH_SECRET_KEY: SECRET_KEY,
    SYNC_SERVICE_URL: backends.syncUrl,
    // No test of this service needs the workspace service.
    WORKSPACE_SERVICE_URL: 'http://127.0.0.1:1',
    NATS_URL: backends.natsUrl,
    ...settings,
  });
}

let opened: Promise<TestService> | undefined;

/** The service that all files of one run share. */
export function openTestService(): Promise<TestService> {
  return (opened ??= (async () => {
    const backends = await openBackends({ label: 'auth', role: 'wts_auth' });
    return new TestService(backends, await startOn(backends));
  })());
}

after(async () => {
  const testService = await opened;
  await testService?.service.close();
  await testService?.backends[Symbol.asyncDispose]();
});
