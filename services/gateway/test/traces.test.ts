import assert from 'node:assert/strict';
import { receiver } from '@wts/testkit';
import { exchange, request } from './raw.ts';
import { startTestGateway } from './test-gateway.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

interface Exported {
  readonly resourceSpans: {
    readonly scopeSpans: {
      readonly spans: { readonly traceId: string; readonly links?: { readonly traceId: string }[] }[];
    }[];
  }[];
}

/** What a service gets as `traceparent`, and what is collected, of one request with TRACEPARENT. */
async function trace(
  settings: Record<string, string>,
): Promise<{ sent: string | undefined; spans: object[]; linked: string[] }> {
  await using collector = await receiver();
  collector.answer({ status: 200, body: '{}' });
  const testGateway = await startTestGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings });
  const lines = [`Authorization: Bearer ${testGateway.fullKey}`, `Traceparent: ${TRACEPARENT}`, 'Tracestate: a=b'];
  await exchange(testGateway.api, request('GET /sync/deltas?after=0', lines));
  const { traceparent, tracestate } = testGateway.sync.last.headers;
  assert.equal(tracestate, undefined);
  await testGateway.close();
  const exported = collector.received.flatMap(({ body }) => (JSON.parse(body) as Exported).resourceSpans);
  const spans = exported.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const linked = spans.flatMap(({ links = [] }) => links.map(({ traceId }) => traceId));
  return { sent: traceparent as string | undefined, spans, linked };
}

describe('a trace', () => {
  it('begins at the gateway, and only links to that of a stranger', async () => {
    const { sent, linked } = await trace({ OTEL_TRACES_SAMPLER: 'always_on' });
    assert.match(sent ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    assert.ok(!sent?.includes(TRACE));
    assert.deepEqual(linked, [TRACE]);
  });

  it('is recorded as the gateway decides, whatever a stranger wants', async () => {
    const { sent, spans } = await trace({ OTEL_TRACES_SAMPLER_ARG: '0' });
    assert.deepEqual({ sent, spans }, { sent: undefined, spans: [] });
  });

  it('continues that of a proxy which the operator named', async () => {
    const { sent, spans, linked } = await trace({ OTEL_TRACES_SAMPLER_ARG: '0', TRACE_PARENTS: '127.0.0.0/8' });
    assert.equal(sent?.slice(3, 35), TRACE);
    assert.ok(spans.length > 0);
    assert.deepEqual(linked, []);
  });
});
