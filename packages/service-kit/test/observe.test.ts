import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receiver, minterFor } from '@wts/testkit';
import { createServiceClient } from '../src/call/index.ts';
import { createLogger } from '../src/observe/index.ts';
import { ann, as, demo as api, NAME, startDemo } from './demo.ts';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

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
}

interface Export {
  readonly resourceSpans: { readonly scopeSpans: { readonly spans: Span[] }[] }[];
}

describe('the traces of a service', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

  it('follow a request into the service, through its calls, into the next one', async () => {
    await using collector = await receiver();
    collector.answer({ status: 200, body: '{}' });
    const demo = await startDemo({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
    const log = createLogger({ name: 'test', level: 'silent' });
    const caller = createServiceClient({
      name: NAME,
      urls: [demo.service.url],
      mintToken: minterFor('gateway', NAME),
      self: 'gateway',
      log,
    });
    demo.levers.relay = () => caller.call(api.open, { principal: ann });
    await fetch(`${demo.service.url}/relay?token=hunter2`, { headers: { traceparent } });
    await fetch(`${demo.service.url}/nope/hunter2`);
    await caller.close();
    await demo.service.close();

    const [first] = collector.received;
    assert.equal(first?.path, '/v1/traces');
    const exported = collector.received.map(({ body }) => JSON.parse(body) as Export);
    const spans = exported.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
    const named = (name: string): Span => spans.find((span) => span.name === name)!;
    const [relay, call, open] = [named('GET relay'), named('sync open'), named('GET open')];
    assert.deepEqual(
      [relay, call, open].map((span) => span.traceId),
      [traceId, traceId, traceId],
    );
    assert.equal(relay.parentSpanId, 'b7ad6b7169203331');
    assert.equal(call.parentSpanId, relay.spanId);
    assert.equal(open.parentSpanId, call.spanId);
    assert.notEqual(named('GET unmatched').traceId, traceId);
    assert.ok(!JSON.stringify(exported).includes('hunter2'));
  });

  it('are not created without a collector', async () => {
    const demo = await startDemo();
    demo.levers.relay = async () => {
      const { isTracing } = await import('../src/observe/index.ts');
      assert.equal(isTracing(), false);
    };
    assert.equal((await fetch(`${demo.service.url}/relay`, { headers: { traceparent } })).status, 200);
    await demo.service.close();
  });

  it('do not keep a service from stopping when the collector is down', async () => {
    const demo = await startDemo({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` });
    await fetch(`${demo.service.url}/open`);
    const started = performance.now();
    await demo.service.close();
    assert.ok(performance.now() - started < 5_000, `${performance.now() - started} ms`);
  });
});
