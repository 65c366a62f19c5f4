import { issuerOf } from '@wts/access';
import { startAnswer } from './edge/answer.ts';
import type { EdgePages } from './edge/edge.ts';
import { pageHeaders } from './page-headers.ts';

/** What a person with a browser gets at {auth_url} from the gateway itself, in the style of its pages, which the auth service serves. */
export function edgePages(authUrl: string): EdgePages {
  const site = issuerOf(authUrl);
  const notFound = pageOf(
    site,
    'Not found',
    'There is no page at this address. Check the link, or ask the person who gave it to you for a new one.',
  );
  return {
    unknown: (context, res) => {
      startAnswer(context, res, 404, headersOf(notFound));
      res.end(notFound);
    },
    busy: (context, res, fault) => {
      context.failure = fault;
      const { status, retryAfterSeconds: seconds = 1 } = fault;
      const title = status === 429 ? 'Too many requests' : 'Not available now';
      const text = `${status === 429 ? 'Many requests came from your network.' : 'The service is starting or busy.'} Try again in ${seconds === 1 ? 'a second' : `${seconds} seconds`}.`;
      const page = pageOf(site, title, text);
      startAnswer(context, res, status, [...headersOf(page), 'Retry-After', String(seconds)]);
      res.end(page);
    },
  };
}

/** The texts are of this service, and have no markup. */
function pageOf(site: string, title: string, text: string): Buffer {
  return Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Workspace Task Service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${site}/style.css">
  </head>
  <body>
    <header class="product">Workspace Task Service</header>
    <main>
      <h1>${title}</h1>
      <p>${text}</p>
      <a class="button plain" href="${site}/">Go to your account</a>
    </main>
  </body>
</html>
`);
}

function headersOf(page: Buffer): string[] {
  const lines = ['Content-Type', 'text/html; charset=utf-8', 'Content-Length', String(page.length)];
  return [...lines, 'Cache-Control', 'no-store', 'Vary', 'Accept', ...pageHeaders()];
}
