import { servicePrincipal } from '@wts/access';
import { credentialApi, memberApi, workspaceApi, type BodyOf, type ReplyOf } from '@wts/contracts';
import { startService, type RunningService } from '@wts/service-kit/life';
import { compile } from '@wts/service-kit/routes';
import {
  type Backends,
  callOperation,
  openBackends,
  type OperationReply,
  ServiceUnderTest,
  sessionOf,
  type TestPerson,
  tokenEnvironment,
} from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { workspaceService } from '../src/service.ts';

/** A workspace service with a real PostgreSQL, NATS and sync service. */
export class TestService extends ServiceUnderTest<RunningService> {
  constructor(backends: Backends, service: RunningService) {
    super(backends, service, { name: 'workspace', compile });
  }

  /** The person of an identity, as the auth service finds or creates it. */
  async resolve(identity: BodyOf<typeof credentialApi.internalResolvePerson>): Promise<string> {
    const { authUrl: url } = this.backends;
    const called = { url, name: 'auth', compile } as const;
    const { body, text } = await callOperation(called, SERVICE, credentialApi.internalResolvePerson, {
      body: identity,
    });
    assert.ok(body.ok, text);
    return body.userId;
  }

  /** Another replica of the same service, with settings of its own; the caller closes its service. */
  async replica(settings: Record<string, string>): Promise<TestService> {
    return new TestService(this.backends, await startOn(this.backends, settings));
  }

  /** Signs a new person in, with all scopes. `emailVerified: null` leaves the claim out. */
  async person({
    emailVerified = true,
    ...claims
  }: { name?: string; email?: string; emailVerified?: boolean | null } = {}): Promise<TestPerson> {
    const subject = randomUUID();
    const email = claims.email ?? `${subject}@example.com`;
    const userId = await this.resolve({
      issuer: 'https://issuer.example',
      subject,
      name: `Person ${subject.slice(0, 8)}`,
      ...(emailVerified === null ? {} : { emailVerified }),
      ...claims,
      email,
    });
    return { userId, email, principal: sessionOf(userId) };
  }

  /** Creates a workspace with its owner and a person of each given role. */
  async workspace<R extends 'admin' | 'member' | 'guest'>(
    ...roles: readonly R[]
  ): Promise<{ readonly id: string; readonly urlKey: string; readonly owner: TestPerson } & Record<R, TestPerson>> {
    const owner = await this.person();
    const urlKey = `w-${randomUUID().slice(0, 18)}`;
    const made = await this.call(owner, workspaceApi.createWorkspace, { body: { name: 'Platform', urlKey } });
    assert.equal(made.status, 201, made.text);
    const { id } = made.body.workspace;
    const people: Record<string, TestPerson> = {};
    for (const role of roles) {
      people[role] = await this.person();
      await this.join(people[role], (await this.invite(owner, id, { role })).code);
    }
    return { id, urlKey, owner, ...(people as Record<R, TestPerson>) };
  }

  async invite(
    who: TestPerson,
    workspaceId: string,
    body: BodyOf<typeof memberApi.createInvitation>,
  ): Promise<ReplyOf<typeof memberApi.createInvitation>['invitation']> {
    const made = await this.call(who, memberApi.createInvitation, { params: { workspaceId }, body });
    assert.equal(made.status, 201, made.text);
    return made.body.invitation;
  }

  join(who: TestPerson, code: string): Promise<OperationReply<typeof memberApi.joinWorkspace>> {
    return this.call(who, memberApi.joinWorkspace, { body: { code } });
  }
}

const SERVICE = servicePrincipal('test');

function startOn(backends: Backends, settings: Record<string, string> = {}): Promise<RunningService> {
  return startService(workspaceService, {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'error',
    ...tokenEnvironment('workspace'),
    DATABASE_URL: backends.databaseUrl,
    SYNC_SERVICE_URL: backends.syncUrl,
    AUTH_SERVICE_URL: backends.authUrl,
    NATS_URL: backends.natsUrl,
    ...settings,
  });
}

let opened: Promise<TestService> | undefined;

/** The service that all files of one run share. */
export function openTestService(): Promise<TestService> {
  return (opened ??= (async () => {
    const backends = await openBackends({ label: 'workspace', role: 'wts_workspace', withAuth: true });
    return new TestService(backends, await startOn(backends));
  })());
}

after(async () => {
  const testService = await opened;
  await testService?.service.close();
  await testService?.backends[Symbol.asyncDispose]();
});
