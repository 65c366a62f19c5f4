import { pageFile, pageFiles, readPageFile, withAccount, type PageFiles } from '../page-files.ts';
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
  return pageFiles('docs', withAccount(PAGE, accountUrl), FILES);
}

const PAGE = pageFile(
  'index.html',
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
  ...['index.css', 'swagger-ui.css', 'swagger-ui-bundle.js'].map(ofSwagger),
  ['page.css', pageFile('page.css', PAGE_STYLE)],
  ['start.js', pageFile('start.js', PAGE_SCRIPT)],
]);

function ofSwagger(name: string): [string, StaticFile] {
  return [name, readPageFile(new URL(name, import.meta.resolve('swagger-ui-dist/package.json')))];
}
