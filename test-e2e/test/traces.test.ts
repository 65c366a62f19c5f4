import type { WebhookEndpoint } from '@wts/contracts';
import { eventually, receiver, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { openShared, type SharedSystem } from './shared-system.ts';

interface Link {
  readonly traceId: string;
  readonly spanId: string;
}

interface TracedSpan extends Link {
  readonly service: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly Link[];
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue?: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<TracedSpan, 'service'>[] }[];
  }[];
}

/** The spans of a change with a webhook. */
const AWAITED = [
  'gateway POST /sync/mutate',
  ...[
    'POST /sync/mutate',
    'commit batch',
    'write and commit',
    'send wts.log',
    'send wts.committed',
    'process wts.log',
  ].map((name) => `sync ${name}`),
  'webhook-dispatcher enqueue events',
  'webhook-dispatcher POST',
];

describe('the traces of a running system', () => {
  let shared: SharedSystem;
  let testSystem: TestSystem;

  before(async () => {
    shared = await openShared();
    ({ testSystem } = shared);
  });

  function spans(): TracedSpan[] {
    return shared.traces.received.flatMap(({ body }) =>
      (JSON.parse(body) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) => {
        const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
        return scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service })));
      }),
    );
  }

  async function createTask(headers: Record<string, string>): Promise<void> {
    const payload = { workspaceId: testSystem.workspaceId, title: 'A traced task' };
    await testSystem.mutate(testSystem.apiKey, { modelName: 'Task', payload }, headers);
  }

  it('follow a change from the gateway through its batch and PostgreSQL into NATS, with links from sockets and webhooks', async () => {
    await using consumer = await receiver({ identity: await shared.authority.issue() });
    const created = await testSystem.request(testSystem.apiKey, 'POST', '/api/webhooks', {
      body: { url: `${consumer.url}/secret-path`, workspaceId: testSystem.workspaceId, eventTypes: ['task.created'] },
    });
    const { endpoint } = JSON.parse(created.text) as { endpoint: WebhookEndpoint };
    let traceId = '';
    const linked = (): TracedSpan[] => spans().filter(({ links }) => links?.some((link) => link.traceId === traceId));
    // Traces come by messages that may be late or lost: what is read from the log before has none. So one of some has all spans.
    await eventually(async () => {
      traceId = randomBytes(16).toString('hex');
      await createTask({ traceparent: `00-${traceId}-b7ad6b7169203331-01` });
      await eventually(
        () => {
          const own = spans().filter((span) => span.traceId === traceId);
          const all = new Set([...own, ...linked()].map(({ service, name }) => `${service} ${name}`));
          assert.deepEqual(new Set(AWAITED).difference(all), new Set());
          return true;
        },
        // Each service sends its spans once in a second.
        { deadlineMs: 20_000 },
      );
      return true;
    });
    await testSystem.request(testSystem.apiKey, 'DELETE', `/api/webhooks/${endpoint.id}`);

    const own = spans().filter((span) => span.traceId === traceId);
    const [entered, mutate, batch] = ['gateway POST /sync/mutate', 'sync POST /sync/mutate', 'sync commit batch'].map(
      (wanted) => own.find(({ service, name }) => `${service} ${name}` === wanted),
    );
    assert.deepEqual(
      [entered, mutate, batch].map((span) => span?.parentSpanId),
      ['b7ad6b7169203331', entered?.spanId, mutate?.spanId],
    );
    assert.deepEqual(
      batch?.links?.map(({ spanId }) => spanId),
      [mutate?.spanId],
    );
    const below = own.filter(({ parentSpanId }) => parentSpanId === batch?.spanId).map(({ name }) => name);
    for (const name of ['write and commit', 'send wts.log', 'send wts.committed'])
      assert.ok(below.includes(name), `${name} of ${below.join()}`);
    for (const [service, name] of [
      ['sync', 'process wts.log'],
      ['webhook-dispatcher', 'enqueue events'],
      ['webhook-dispatcher', 'POST'],
    ]) {
      const span = linked().find((one) => one.service === service && one.name === name);
      assert.ok(span !== undefined && span.traceId !== traceId, `${service} begins a trace of its own at: ${name}`);
    }
    const attempt = consumer.received.at(-1);
    assert.equal(attempt?.headers['traceparent'], undefined, 'consumers learn nothing of traces');
    assert.ok(!JSON.stringify(spans()).includes('secret-path'));
  });

  it('leave out what the gateway did not decide to record', async () => {
    const before = new Set(spans().map(({ traceId }) => traceId));
    const traceId = randomBytes(16).toString('hex');
    await createTask({});
    await createTask({ traceparent: `00-${traceId}-b7ad6b7169203331-00` });
    const recorded = randomBytes(16).toString('hex');
    await createTask({ traceparent: `00-${recorded}-b7ad6b7169203331-01` });
    await eventually(() => spans().some(({ service, traceId: id }) => service === 'gateway' && id === recorded));
    const entered = spans().filter(({ service, traceId: id }) => service === 'gateway' && !before.has(id));
    assert.deepEqual([...new Set(entered.map(({ traceId: id }) => id))], [recorded]);
  });
});
