import { readFileSync } from 'node:fs';
import { pageHeaders } from '../page-headers.ts';
import { pageFiles, withAccount, type PageFiles } from '../page-files.ts';
import type { StaticFile } from '../static-answer.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { PAGE_STYLE } from './page-style.ts';

/**
 * The reference page at `/docs`: Swagger UI for `/openapi.json`, from files of its package and two small files of ours. All are
 * in memory from the start, so a request names a file of a closed list and never a path on disk. Links on the page are
 * relative, so that it works behind a proxy that removes a path prefix. Decision 0006 explains the choice of Swagger UI.
 * Keeps meta.docs.files.
 */
export function readDocs(accountUrl: string): PageFiles {
  return pageFiles('docs', { ...PAGE, bytes: withAccount(PAGE, accountUrl) }, FILES);
}

const PAGE: StaticFile = file(
  'text/html; charset=utf-8',
  `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Workspace Task Service: API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/index.css">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/page.css">
  </head>
  <body>
    <noscript>This page shows <a href="openapi.json">openapi.json</a> and needs JavaScript for it.</noscript>
    <nav class="other-pages" aria-label="Other pages">
      <a href="console">Webhooks console</a>
      <a href="{account}">Your account</a>
    </nav>
    <main id="reference"></main>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`,
);

const FILES: ReadonlyMap<string, StaticFile> = new Map([
  ['index.css', file('text/css; charset=utf-8', read(import.meta.resolve('swagger-ui-dist/index.css')))],
  ['swagger-ui.css', file('text/css; charset=utf-8', read(import.meta.resolve('swagger-ui-dist/swagger-ui.css')))],
  [
    'swagger-ui-bundle.js',
    file('text/javascript; charset=utf-8', read(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'))),
  ],
  ['page.css', file('text/css; charset=utf-8', PAGE_STYLE)],
  ['start.js', file('text/javascript; charset=utf-8', PAGE_SCRIPT)],
]);

function file(type: string, content: string | Buffer): StaticFile {
  return { type, bytes: Buffer.from(content), lines: pageHeaders() };
}

function read(url: string): Buffer {
  return readFileSync(new URL(url));
}
