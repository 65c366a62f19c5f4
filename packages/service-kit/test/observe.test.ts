import assert from 'node:assert/strict';
import { freePort, minterFor, receiver } from '@wts/testkit';
import { createServiceClient } from '../src/call/index.ts';
import { ann, demo as api, NAME } from './demo.ts';
import { as, startDemo } from './running-demo.ts';

describe('the metrics of a service', () => {
  it('count requests by operation, method and status, and refusals by code, on a port of their own', async () => {
    const port = await freePort();
    const demo = await startDemo({ METRICS_PORT: String(port) });
    try {
      for (const name of ['a', 'b', 'c']) await fetch(`${demo.service.url}/things/${name}`, { headers: as(ann) });
      await fetch(`${demo.service.url}/things/WRONG`, { headers: as(ann) });
      for (const path of ['/x', '/y', '/z?token=hunter2']) await fetch(demo.service.url + path);
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
      const text = await answer.text();
      assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
      assert.match(
        text,
        /wts_http_request_duration_seconds_count\{service="sync",route="read",method="GET",status="200"\} 3/,
      );
      assert.match(
        text,
        /wts_http_request_duration_seconds_count\{service="sync",route="read",method="GET",status="400"\} 1/,
      );
      assert.match(
        text,
        /wts_http_request_duration_seconds_count\{service="sync",route="unmatched",method="GET",status="404"\} 3/,
      );
      assert.match(text, /wts_refusals_total\{code="validation_failed",service="sync"\} 1/);
      assert.match(text, /wts_refusals_total\{code="not_found",service="sync"\} 3/);
      assert.match(text, /nodejs_eventloop_lag_p99_seconds/);
      assert.ok(!/hunter2|things/.test(text), 'the number of series must not depend on callers');
      assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
      assert.equal((await fetch(`${demo.service.url}/metrics`)).status, 404);
    } finally {
      await demo.service.close();
    }
    await assert.rejects(fetch(`http://127.0.0.1:${port}/metrics`));
  });
});

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

interface Export {
  readonly resourceSpans: {
    readonly resource: Pick<Span, 'attributes'>;
    readonly scopeSpans: { readonly spans: Span[] }[];
  }[];
}

function valuesOf({ attributes }: Pick<Span, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

describe('the traces of a service', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  const unrecorded = `00-${traceId}-b7ad6b7169203331-00`;

  it('follow a recorded request into the service, through its calls, into the next one, and into the log', async () => {
    await using collector = await receiver();
    collector.answer({ status: 200, body: '{}' });
    process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'k8s.pod.name=sync-0,service.instance.id=sync-0';
    const demo = await startDemo({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, BUILD_VERSION: '1.2.3' });
    delete process.env['OTEL_RESOURCE_ATTRIBUTES'];
    const log = demo.service.log;
    const caller = createServiceClient({
      name: NAME,
      urls: [demo.service.url],
      mintToken: minterFor('gateway', NAME),
      self: 'gateway',
      log,
    });
    demo.levers.relay = () => {
      log.info('inside');
      return caller.call(api.open, { principal: ann });
    };
    await fetch(`${demo.service.url}/relay?token=hunter2`, { headers: { traceparent } });
    await fetch(`${demo.service.url}/relay`, { headers: { traceparent: unrecorded } });
    await fetch(`${demo.service.url}/relay`);
    await fetch(`${demo.service.url}/nope/hunter2`, { headers: { traceparent } });
    await caller.close();
    await demo.service.close();

    assert.equal(collector.received[0]?.path, '/v1/traces');
    const exported = collector.received.map(({ body }) => JSON.parse(body) as Export);
    const resources = exported.flatMap(({ resourceSpans }) => resourceSpans);
    const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    assert.equal(spans.length, 4, 'only what the caller records is recorded');
    const [relay, call, open] = ['GET /relay', 'GET /open', 'GET /open'].map((name, at) =>
      spans.find((span) => span.name === name && (at === 1) === 'peer.service' in valuesOf(span)),
    ) as [Span, Span, Span];
    assert.ok(spans.every((span) => span.traceId === traceId));
    assert.equal(relay.parentSpanId, 'b7ad6b7169203331');
    assert.equal(call.parentSpanId, relay.spanId);
    assert.equal(open.parentSpanId, call.spanId);
    const { port } = new URL(demo.service.url);
    const server = { 'url.scheme': 'http', 'server.address': '127.0.0.1', 'server.port': Number(port) };
    assert.deepEqual(valuesOf(relay), {
      ...server,
      'http.request.method': 'GET',
      'http.route': '/relay',
      'http.response.status_code': 200,
    });
    assert.deepEqual(valuesOf(call), {
      ...server,
      'http.request.method': 'GET',
      'url.template': '/open',
      'peer.service': 'sync',
      'http.response.status_code': 200,
    });
    const resource = valuesOf(resources[0]!.resource);
    assert.equal(resource['service.name'], NAME);
    assert.equal(resource['service.version'], '1.2.3');
    assert.equal(resource['service.instance.id'], 'sync-0');
    assert.equal(resource['k8s.pod.name'], 'sync-0');
    assert.ok(!JSON.stringify(exported).includes('hunter2'));
    const logged = demo.lines();
    assert.equal(logged.filter(({ trace_id: id }) => id === traceId).length, 4);
    assert.ok(logged.some(({ msg, span_id: id }) => msg === 'inside' && id === relay.spanId));
  });

  it('are not created without a collector', async () => {
    const demo = await startDemo();
    demo.levers.relay = async () => {
      const { activeTrace } = await import('../src/observe/index.ts');
      assert.equal(activeTrace(), null);
    };
    assert.equal((await fetch(`${demo.service.url}/relay`, { headers: { traceparent } })).status, 200);
    await demo.service.close();
  });

  it('do not keep a service from stopping when the collector is down', async () => {
    const demo = await startDemo({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` });
    await fetch(`${demo.service.url}/open`, { headers: { traceparent } });
    const started = performance.now();
    await demo.service.close();
    assert.ok(performance.now() - started < 5_000, `${performance.now() - started} ms`);
  });
});
