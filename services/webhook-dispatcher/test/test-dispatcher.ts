import { webhookApi, type Contract, type Principal, type ReplyOf, type Role } from '@wts/contracts';
import { startService, type RunningService } from '@wts/service-kit/life';
import { compile } from '@wts/service-kit/routes';
import { callOperation, serviceEnvironment, testNats, type OperationReply, type OperationRequest } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { webhookDispatcher } from '../src/service.ts';
import { LogAndEndpoints } from './log-and-endpoints.ts';

/** One dispatcher over a real database and a real NATS server. Every answer is compared with its contract. */
export class TestDispatcher implements AsyncDisposable {
  readonly store: LogAndEndpoints;
  readonly service: RunningService;
  readonly logs: readonly string[];
  readonly #owned: AsyncDisposableStack;

  private constructor(
    store: LogAndEndpoints,
    service: RunningService,
    logs: readonly string[],
    owned: AsyncDisposableStack,
  ) {
    this.store = store;
    this.service = service;
    this.logs = logs;
    this.#owned = owned;
  }

  static async open(label: string, settings: Readonly<Record<string, string>> = {}): Promise<TestDispatcher> {
    await using opening = new AsyncDisposableStack();
    const store = opening.use(await LogAndEndpoints.open(label));
    const nats = opening.use(await testNats(label));
    const logs: string[] = [];
    const environment = serviceEnvironment('webhook-dispatcher', {
      DATABASE_URL: store.database.urlOf('wts_webhooks'),
      NATS_URL: nats.url,
      WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'),
      ...settings,
    });
    const service = await startService(webhookDispatcher, environment, {
      logTo: { write: (line) => void logs.push(line) },
    });
    opening.defer(() => service.close());
    return new TestDispatcher(store, service, logs, opening.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  /** A workspace with a person in each of these roles. */
  async workspace<R extends Role>(...roles: readonly R[]): Promise<{ readonly id: string } & Record<R, Principal>> {
    const id = randomUUID();
    const people: Record<string, Principal> = {};
    for (const role of roles) {
      const person = principalOf(randomUUID());
      await this.store.admin.query(
        `insert into sync.workspace_members (id, workspace_id, user_id, role, group_id, record, created_at, updated_at)
          values ($1, $2, $3, $4, $2, '{}', now(), now())`,
        [randomUUID(), id, person.userId, role],
      );
      people[role] = person;
    }
    return { id, ...(people as Record<R, Principal>) };
  }

  ask<C extends Contract>(who: Principal, contract: C, request: OperationRequest<C>): Promise<OperationReply<C>> {
    const called = { url: this.service.url, name: 'webhook-dispatcher', compile } as const;
    return callOperation(called, who, contract, request);
  }

  /** A new endpoint of the workspace. */
  async endpoint(who: Principal, workspaceId: string): Promise<ReplyOf<typeof webhookApi.createEndpoint>> {
    const body = { url: 'https://hooks.example.com/x', workspaceId };
    const made = await this.ask(who, webhookApi.createEndpoint, { body });
    assert.equal(made.status, 201, made.message ?? '');
    return made.body;
  }
}

export function principalOf(userId: string, more: Partial<Principal> = {}): Principal {
  return { userId, scopes: ['read', 'write', 'admin'], credential: { kind: 'jwt', id: randomUUID() }, ...more };
}
