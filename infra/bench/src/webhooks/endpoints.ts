import { connectTo, type TestAuthority, type TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { inParallel } from '../load.ts';
import type { Sizes } from '../sizes.ts';
import { Worker } from '@wts/testkit/worker';
import type { Arrival, ReceiversCommand } from './receivers-worker.ts';

const PARALLEL = 8;

/** Of each workspace in turn, so that the first of each workspace have the lowest numbers. */
export interface Endpoint {
  readonly id: string;
  readonly workspaceId: string;
  readonly url: string;
}

interface Parts {
  readonly all: readonly Endpoint[];
  readonly database: Client;
  readonly receivers: Worker<ReceiversCommand>;
  readonly owned: AsyncDisposableStack;
}

/** Workspaces with several endpoints each, created through the API; each endpoint is a receiver with an origin of its own. */
export class Endpoints implements AsyncDisposable {
  readonly all: readonly Endpoint[];
  readonly database: Client;
  readonly #testSystem: TestSystem;
  readonly #receivers: Worker<ReceiversCommand>;

  readonly #owned: AsyncDisposableStack;

  private constructor(testSystem: TestSystem, { all, database, receivers, owned }: Parts) {
    this.#testSystem = testSystem;
    this.all = all;
    this.database = database;
    this.#receivers = receivers;
    this.#owned = owned;
  }

  static async open(
    testSystem: TestSystem,
    authority: TestAuthority,
    { workspaces, endpointsEach }: Sizes['webhooks'],
  ): Promise<Endpoints> {
    await using opening = new AsyncDisposableStack();
    const receivers = opening.use(new Worker<ReceiversCommand>(new URL('receivers-worker.ts', import.meta.url)));
    const identity = await authority.issue();
    const urls = await receivers.do<string[]>({ do: 'open', count: workspaces * endpointsEach, identity });
    const workspaceIds: string[] = [];
    for (let left = workspaces; left > 0; left -= 1) {
      const body = { name: 'Bench', urlKey: `bench-${randomUUID().slice(0, 13)}` };
      const { workspace } = await post<{ workspace: { id: string } }>(testSystem, '/api/workspaces', body);
      workspaceIds.push(workspace.id);
    }
    const all: Endpoint[] = [];
    let next = 0;
    await inParallel(PARALLEL, urls.length, async () => {
      const nth = next++;
      const [url = '', workspaceId = ''] = [urls[nth], workspaceIds[nth % workspaces]];
      const made = await post<{ endpoint: { id: string } }>(testSystem, '/api/webhooks', { url, workspaceId });
      all[nth] = { id: made.endpoint.id, workspaceId, url };
    });
    const database = opening.use(await connectTo(testSystem.database.url));
    return new Endpoints(testSystem, { all, database, receivers, owned: opening.move() });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }

  /** Switches all other endpoints off; their deliveries wait. */
  async enableOnly(endpoints: readonly Endpoint[]): Promise<void> {
    await this.database.query('update webhooks.endpoints set enabled = id = any($1) where enabled <> (id = any($1))', [
      endpoints.map(({ id }) => id),
    ]);
  }

  /** Through the API, which wakes the dispatcher. */
  async setEnabled({ id }: Endpoint, enabled: boolean): Promise<void> {
    const { apiKey } = this.#testSystem;
    const { status, text } = await this.#testSystem.request(apiKey, 'PATCH', `/api/webhooks/${id}`, {
      body: { enabled },
    });
    if (status !== 200) throw new Error(`an endpoint was not changed: ${status} ${text}`);
  }

  hangFrom(nth: number): Promise<void> {
    return this.#receivers.do({ do: 'hangFrom', nth });
  }

  /** The requests since the last call. */
  take(): Promise<readonly Arrival[]> {
    return this.#receivers.do<Arrival[]>({ do: 'take' });
  }

  /** Queues so many events for each of these endpoints, as the dispatcher does, and lets their lanes be due. */
  async queue(endpoints: readonly Endpoint[], events: number): Promise<void> {
    await this.database.query(
      `with event as (
        insert into webhooks.events (id, created_at, workspace_id, type, body)
        select gen_random_uuid(), now(), $3, 'task.updated', $4 from generate_series(1, $2::int) returning id, created_at
      ),
      lane as (
        update webhooks.lanes set last_sequence = last_sequence + $2, wakes = wakes + 1, due_at = now(),
          last_created_at = now() + $2 * interval '1 millisecond'
        where endpoint_id = any($1) returning endpoint_id, last_sequence - $2 as before
      )
      insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at)
      select gen_random_uuid(), endpoint_id, event.id, created_at, 'task.updated', before + nth,
        now() + nth * interval '1 millisecond'
      from lane cross join (select *, row_number() over () as nth from event) event`,
      [endpoints.map(({ id }) => id), events, randomUUID(), BODY],
    );
    await this.database.query('vacuum (analyze) webhooks.deliveries, webhooks.events');
  }

  /** Deliveries that wait for their first attempt or a retry. */
  async hasPending(): Promise<boolean> {
    // Each condition has an index; a scan of the table would take CPU that the job queues, whose tables are empty, keep.
    const { rowCount } = await this.database
      .query(`select from webhooks.deliveries where status = 'pending' and attempt_count = 0
      union all select from webhooks.deliveries where status = 'pending' and attempt_count > 0 limit 1`);
    return rowCount === 1;
  }
}

/** Of ordinary size. */
export const BODY = JSON.stringify({ type: 'task.updated', data: { object: { text: 'x'.repeat(600) }, changes: [] } });

async function post<T>(testSystem: TestSystem, path: string, body: object): Promise<T> {
  const { status, text } = await testSystem.request(testSystem.apiKey, 'POST', path, { body });
  if (status !== 201) throw new Error(`${path} answered ${status} ${text}`);
  return JSON.parse(text) as T;
}
