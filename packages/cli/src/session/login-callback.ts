import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CliFault } from '../fault.ts';

/** The answer of the page, which the browser brought. The browser gets a page when `finish` is called. */
export interface Callback {
  readonly code: string;
  readonly finish: (failure: string | null) => Promise<void>;
}

export interface CallbackListener extends AsyncDisposable {
  readonly port: number;
  /** The first answer with this state. Throws a fault when the person refused, or no answer comes in time. */
  readonly next: (
    state: string,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ) => Promise<Callback>;
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

/** Waits on a port of 127.0.0.1 for the browser. Requests without the right state are refused and change nothing. */
export async function listenForCallback(): Promise<CallbackListener> {
  let settle: ((query: URLSearchParams, response: ServerResponse) => boolean) | null = null;
  const server = createServer((request, response) => {
    const query = queryOf(request, (server.address() as AddressInfo).port);
    if (query !== null && settle?.(query, response) === true) return;
    response.writeHead(404, PAGE_HEADERS).end(page('This address is not in use', 'You can close this page.'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    next: (state, { signal, timeoutMs }) =>
      new Promise<Callback>((resolve, reject) => {
        // The server keeps the process running while it listens; the timer alone must not.
        const timer = setTimeout(() => reject(tooLate(timeoutMs)), timeoutMs).unref();
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        settle = (query, response) => {
          if (query.get('state') !== state) return false;
          const code = query.get('code');
          settle = null;
          clearTimeout(timer);
          const finish = (failure: string | null): Promise<void> => {
            const [title, text] =
              failure === null
                ? ['You are signed in', 'You can close this page, and go on in your terminal.']
                : ['You are not signed in', `${failure} You can close this page.`];
            // A browser that is gone ends it too.
            const sent = new Promise<void>((done) => void response.once('close', done));
            response.writeHead(200, PAGE_HEADERS).end(page(title, text));
            return sent;
          };
          if (code === null) {
            const fault = new CliFault('usage', 'You refused on the page. Nothing was shared.', {
              code: 'access_denied',
            });
            void finish(fault.message).then(() => reject(fault));
          } else resolve({ code, finish });
          return true;
        };
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Null for a request that is no callback. Another name than the address is that of a site that resolves to this machine. */
function queryOf({ method, url = '', headers: { host } }: IncomingMessage, port: number): URLSearchParams | null {
  if (method !== 'GET' || host !== `127.0.0.1:${port}` || !url.startsWith('/callback?')) return null;
  return new URLSearchParams(url.slice('/callback?'.length));
}

function tooLate(timeoutMs: number): CliFault {
  const hint = 'Run wts login again. On a machine without a browser: wts login --no-browser';
  return new CliFault('sign-in', `There was no sign-in within ${timeoutMs / 60_000} minutes.`, {
    code: 'timed_out',
    hint,
  });
}

function page(title: string, text: string): string {
  const safe = (one: string): string => one.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${safe(title)}</title><link rel="icon" href="data:,">
</head>
<body style="font: 17px/1.5 system-ui, sans-serif; max-width: 26em; margin: 20vh auto; padding: 0 1em">
<main><h1>${safe(title)}</h1><p>${safe(text)}</p></main>
</body>
</html>
`;
}
