import { objectOf } from './parts.ts';
import { browserPage, contract } from './contract.ts';
import { DESCRIPTION_VERSION } from './version.ts';

const ok = objectOf({ ok: { const: true }, status: { type: 'string', description: 'The state in one word.' } });

export const health = contract({
  id: 'health',
  method: 'GET',
  path: '/health',
  summary: 'Check whether the process runs',
  description: 'For liveness probes. Does not check the database or other services.',
  tag: 'Meta',
  scope: 'none',
  reply: { status: 200, description: 'The process runs.', schema: ok, example: { ok: true, status: 'up' } },
});

export const ready = contract({
  id: 'ready',
  method: 'GET',
  path: '/ready',
  summary: 'Check whether the service can handle requests',
  description:
    'For readiness probes and load balancers. Checks the services, which check the database; 503 when one does not answer.',
  tag: 'Meta',
  scope: 'none',
  reply: {
    status: 200,
    description: 'The service can handle requests.',
    schema: ok,
    example: { ok: true, status: 'ready' },
  },
  errors: ['unavailable'],
});

export const description = contract({
  id: 'openapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'Read this description',
  description:
    'OpenAPI 3.1, generated from the contracts of the operations. The answer has an `ETag`: send it in `If-None-Match` to get a 304 while nothing changed.',
  tag: 'Meta',
  scope: 'none',
  reply: {
    status: 200,
    description: 'The document.',
    schema: { type: 'object', description: 'An OpenAPI document.' },
    example: { openapi: '3.1.1', info: { title: 'Workspace Task Service', version: DESCRIPTION_VERSION }, paths: {} },
  },
  revalidated: true,
});

const segment = { type: 'string', minLength: 1, maxLength: 100 } as const;
/** `version` is the hash of all files of the page. */
const fileParams = objectOf({ version: segment, file: segment });

const HTML = { status: 200, contentType: 'text/html; charset=utf-8' };
const SCRIPT = { status: 200, contentType: 'text/javascript; charset=utf-8' };
const WITHOUT_SLASH = { status: 308 };

/** The description as a web page. */
export const docs = browserPage({ id: 'docs', path: '/docs', summary: 'This description, as a page' }, HTML);

/** The files of that page. */
export const docsFile = browserPage(
  { id: 'docsFile', path: '/docs/{version}/{file}', summary: 'A file of the page', params: fileParams },
  SCRIPT,
);

export const docsSlash = browserPage(
  { id: 'docsSlash', path: '/docs/', summary: 'Redirects to the page without the slash' },
  WITHOUT_SLASH,
);

export const root = browserPage({ id: 'root', path: '/', summary: 'Redirects browsers to the page' }, { status: 302 });

/** For who runs a webhook endpoint: its deliveries, and what can be done about them. */
export const consolePage = browserPage(
  { id: 'console', path: '/console', summary: 'The webhooks console, as a page' },
  HTML,
);

/** What that page is made of. */
export const consoleFile = browserPage(
  {
    id: 'consoleFile',
    path: '/console/{version}/{file}',
    summary: 'A file of the webhooks console',
    params: fileParams,
  },
  SCRIPT,
);

export const consoleSlash = browserPage(
  { id: 'consoleSlash', path: '/console/', summary: 'The way to the webhooks console, without the slash' },
  WITHOUT_SLASH,
);

/** A page to write and run GraphQL operations, for development. */
export const graphiqlPage = browserPage({ id: 'graphiql', path: '/graphql', summary: 'GraphiQL, as a page' }, HTML);

export const graphiqlFile = browserPage(
  { id: 'graphiqlFile', path: '/graphql/ui/{version}/{file}', summary: 'A file of GraphiQL', params: fileParams },
  SCRIPT,
);
