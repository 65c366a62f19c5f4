/** `npm start -- --observe`: a page with the figures and the traces of the system, without more software. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendPage, servePages, type SentPage } from '../local-page.ts';
import { Figures, type Target } from './metrics.ts';
import { overviewPage, REFRESH, STYLE, tracePage } from './page.ts';
import { Traces } from './traces.ts';

export interface Observer extends AsyncDisposable {
  readonly url: string;
  /** Of the services, which record every request: one of a hundred is too few to find one's own. */
  readonly settings: Readonly<Record<string, string>>;
  readonly figures: Figures;
  /** The processes whose figures it shows. */
  watch(targets: readonly Target[]): void;
}

const EXPORT_BYTES_MAX = 4 * 1024 * 1024;
const POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'";
const HTML = 'text/html; charset=utf-8';
const TRACE = /^\/traces\/([0-9a-f]{32})$/;

/** At port zero, it takes any. */
export async function openObserver(port: number): Promise<Observer> {
  let targets: readonly Target[] = [];
  const figures = new Figures(() => targets);
  const traces = new Traces();
  const server = await servePages(port, (req, res) => {
    const path = req.url ?? '';
    if (req.method === 'POST' && path === '/v1/traces') return void receive(req, res, traces);
    if (req.method !== 'GET') return send(res, { status: 405, text: 'Only GET.' });
    const trace = traces.find(TRACE.exec(path)?.[1] ?? '');
    if (path === '/') return send(res, { type: HTML, text: overviewPage(figures, traces) });
    if (path === '/style.css') return send(res, { type: 'text/css', text: STYLE });
    if (path === '/refresh.js') return send(res, { type: 'text/javascript', text: REFRESH });
    if (trace !== null) return send(res, { type: HTML, text: tracePage(trace, traces) });
    return send(res, { status: 404, text: 'Not found.' });
  });
  const { url } = server;
  return {
    url,
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER: 'always_on' },
    figures,
    watch: (watched) => (targets = watched),
    [Symbol.asyncDispose]: async () => {
      figures[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function receive(req: IncomingMessage, res: ServerResponse, traces: Traces): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if ((bytes += chunk.length) > EXPORT_BYTES_MAX) return send(res, { status: 413, text: 'Too large.' });
    }
    traces.add(Buffer.concat(chunks).toString('utf8'));
    send(res, { type: 'application/json', text: '{}' });
  } catch {
    send(res, { status: 400, text: 'This is no export of traces in JSON.' });
  }
}

function send(res: ServerResponse, page: SentPage): void {
  sendPage(res, { policy: POLICY, ...page });
}
