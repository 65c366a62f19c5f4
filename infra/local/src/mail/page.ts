import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { escaped, sendPage, servePages } from '../local-page.ts';

export interface CaughtMail {
  readonly id: number;
  readonly receivedAt: string;
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Those of the text, in its order. */
  readonly links: readonly string[];
}

interface PageOptions {
  /** Zero: any. */
  readonly port: number;
  readonly mails: readonly CaughtMail[];
  /** Emits `mail` for each new one. */
  readonly changes: EventEmitter;
}

const WATCHERS_MAX = 20;
const HTML = 'text/html; charset=utf-8';
/** The HTML of a mail runs no script and loads nothing; its links open in another tab. */
const MAIL_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'";
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; frame-src 'self'; frame-ancestors 'none'";
const WATCH = `new EventSource('/changes').addEventListener('message', () => location.reload());`;
const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:0 auto;padding:1rem}
details{border:1px solid #8886;border-radius:8px;margin:.75rem 0;padding:0 1rem}summary{min-height:44px;padding:.6rem 0;cursor:pointer;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere}iframe{width:100%;height:26rem;border:1px solid #8886;border-radius:8px;background:#fff}
time{opacity:.7}a{overflow-wrap:anywhere}`;

/** The page that lists the mails, newest first, as they arrive. */
export function openMailPage({ port, mails, changes }: PageOptions): ReturnType<typeof servePages> {
  changes.setMaxListeners(WATCHERS_MAX + 1);
  return servePages(port, (req, res) => {
    const path = req.url ?? '';
    const mail = mails.find(({ id }) => path === `/messages/${id}`);
    if (path === '/') return sendPage(res, { type: HTML, text: pageOf(mails), policy: PAGE_POLICY });
    if (path === '/messages')
      return sendPage(res, { type: 'application/json', text: JSON.stringify({ messages: mails }) });
    if (path === '/watch.js') return sendPage(res, { type: 'text/javascript', text: WATCH });
    if (path === '/changes' && changes.listenerCount('mail') < WATCHERS_MAX) return watch(req, res, changes);
    if (mail !== undefined)
      return sendPage(res, { type: HTML, text: `<base target="_blank">${mail.html}`, policy: MAIL_POLICY });
    return sendPage(res, { status: 404, text: 'Not found.' });
  });
}

/** Server-sent events: one for each mail. */
function watch(req: IncomingMessage, res: ServerResponse, changes: EventEmitter): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).flushHeaders();
  const change = (): void => void res.write('data: mail\n\n');
  changes.on('mail', change);
  req.once('close', () => changes.off('mail', change));
}

function pageOf(mails: readonly CaughtMail[]): string {
  const items = mails.toReversed().map(
    ({ id, receivedAt, from, to, subject, text, links }, index) => `<details${index === 0 ? ' open' : ''}>
<summary><strong>${escaped(subject)}</strong> to ${escaped(to)} <time>${escaped(receivedAt)}</time></summary>
<p>From ${escaped(from)}</p>
<ul>${links.map((link) => `<li><a href="${escaped(link)}" target="_blank" rel="noreferrer">${escaped(link)}</a></li>`).join('')}</ul>
<iframe src="/messages/${id}" title="HTML of ${escaped(subject)}" loading="lazy"></iframe>
<pre>${escaped(text)}</pre></details>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Mail</title><style>${STYLE}</style><script src="/watch.js" defer></script></head><body><h1>Mail</h1>
<p>Every mail of this system ends here, and none is delivered. The newest ones are kept until it stops.</p>
${items.length === 0 ? '<p>No mail yet. This page shows each one as it arrives.</p>' : items.join('\n')}</body></html>`;
}
