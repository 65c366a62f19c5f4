import { issuerOf } from '@wts/access';
import { startAnswer } from './edge/answer.ts';
import type { OwnAnswer } from './edge/edge.ts';
import { pageHeaders } from './page-headers.ts';

/** 404 of {auth_url} for a person with a browser, in the style of its pages, which the auth service serves. */
export function unknownPage(authUrl: string): OwnAnswer {
  const site = issuerOf(authUrl);
  const body = Buffer.from(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Not found · Workspace Task Service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${site}/style.css">
  </head>
  <body>
    <header class="product">Workspace Task Service</header>
    <main>
      <h1>Not found</h1>
      <p>There is no page at this address. Check the link, or ask the person who gave it to you for a new one.</p>
      <a class="button plain" href="${site}/">Go to your account</a>
    </main>
  </body>
</html>
`);
  const lines = ['Content-Type', 'text/html; charset=utf-8', 'Content-Length', String(body.length)];
  const headers = [...lines, 'Cache-Control', 'no-store', 'Vary', 'Accept', ...pageHeaders()];
  return (context, res) => {
    startAnswer(context, res, 404, headers);
    res.end(body);
  };
}
