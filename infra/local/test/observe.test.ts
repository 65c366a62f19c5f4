import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openObserver } from '../src/observe/observer.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

function exported(traceId: string, spans: readonly object[]): string {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'sync' } }] };
  const whole = { startTimeUnixNano: '1000000000', endTimeUnixNano: '1500000000', traceId };
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ spans: spans.map((one) => ({ ...whole, ...one })) }] }],
  });
}

describe('the page with figures and traces', () => {
  let requests = 0;
  const metered = createServer((_req, res) =>
    res.end(
      `# HELP wts_commit_mutations_total Changes\nwts_commit_mutations_total{service="sync"} ${(requests += 100)}\n`,
    ),
  );
  let url: string;
  let page: Awaited<ReturnType<typeof openObserver>>;
  const targets = (): { name: string; metricsUrl: string }[] => [{ name: 'sync', metricsUrl: url }];

  before(async () => {
    await new Promise<void>((resolve) => metered.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(metered.address() as AddressInfo).port}/metrics`;
    page = await openObserver(0);
  });
  after(async () => {
    await page[Symbol.asyncDispose]();
    metered.close();
  });

  const textOf = async (path: string): Promise<string> => (await fetch(page.url + path)).text();
  const send = (body: string): Promise<Response> => fetch(`${page.url}/v1/traces`, { method: 'POST', body });

  it('shows rates of what processes count, for five minutes, and names processes without metrics', async () => {
    for (let times = 0; times < 200; times += 1) await page.figures.measure(targets());
    const changes = page.figures.groups.flatMap(({ figures }) => figures).find(({ title }) => title === 'Changes');
    assert.equal(changes?.values.length, 150, 'older values go');
    assert.ok(changes.values.every((value) => value !== null && value > 0));
    assert.match(await textOf('/'), /Changes<.*<polyline/s);
    await page.figures.measure([{ name: 'graph', metricsUrl: 'http://127.0.0.1:9/metrics' }]);
    assert.match(await textOf('/'), /No metrics from: graph/);
  });

  it('shows a trace as its spans, in order, and what it caused, and keeps the newest', async () => {
    const caused = '1'.repeat(32);
    await send(
      exported(TRACE, [
        { spanId: 'b', parentSpanId: 'a', name: 'commit <batch>' },
        { spanId: 'a', name: 'POST /x' },
      ]),
    );
    await send(exported(caused, [{ spanId: 'c', name: 'process wts.log', links: [{ traceId: TRACE }] }]));
    const list = await textOf('/');
    assert.ok(list.includes(`/traces/${TRACE}`) && !list.includes(`/traces/${caused}`));
    const shown = await textOf(`/traces/${TRACE}`);
    assert.match(shown, /POST \/x.*commit &#60;batch&#62;.*process wts\.log/s);
    assert.match(await textOf(`/traces/${caused}`), /Caused by.*POST \/x/s);
    for (let at = 0; at < 220; at += 1)
      await send(exported(at.toString(16).padStart(32, '0'), [{ spanId: 'a', name: 'later' }]));
    assert.equal((await fetch(`${page.url}/traces/${TRACE}`)).status, 404);
  });

  it('takes nothing else', async () => {
    assert.equal((await send('no JSON')).status, 400);
    assert.equal((await send('x'.repeat(5 * 1024 * 1024))).status, 413);
    const reply = await fetch(`${page.url}/`);
    assert.match(reply.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
    assert.equal((await fetch(page.url.replace('127.0.0.1', 'localhost')).catch(() => null))?.status ?? 421, 421);
  });
});
