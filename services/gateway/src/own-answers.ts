import type { ServerResponse } from 'node:http';
import { Fault, meta } from '@wts/contracts';
import type { Readiness } from '@wts/service-kit/life';
import { CONSOLE_FILES, CONSOLE_PAGE } from './console/page.ts';
import type { readGraphiql } from './graphiql/page.ts';
import { DOCS_FILES, DOCS_PAGE } from './docs/page.ts';
import { JSON_TYPE, answerJson, startAnswer } from './edge/answer.ts';
import type { OwnAnswer } from './edge/edge.ts';
import type { RequestContext } from './edge/request-context.ts';
import { matchPath } from './edge/match-route.ts';
import { staticAnswer } from './static-answer.ts';
import type { StaticFile } from './static-answer.ts';

/**
 * The operations that the gateway answers itself. Bodies are made once; only readiness calls other services.
 * Keeps meta.health.no-wait, meta.health.up.
 * Keeps meta.openapi.answer, meta.docs.page, meta.docs.found, console.page.
 */
export function ownAnswers(
  readiness: Readiness,
  description: object,
  graphiql: ReturnType<typeof readGraphiql> | null,
): ReadonlyMap<string, OwnAnswer> {
  const up = bytes({ ok: true, status: 'up' });
  const ready = bytes({ ok: true, status: 'ready' });
  const noStore = ['Cache-Control', 'no-store'];
  return new Map<string, OwnAnswer>([
    [meta.health.id, (context, res) => answerJson(context, res, up, noStore)],
    [
      meta.ready.id,
      async (context, res) => {
        await readiness.check();
        answerJson(context, res, ready, noStore);
      },
    ],
    [meta.description.id, staticAnswer({ type: JSON_TYPE, bytes: bytes(description) })],
    [meta.docs.id, staticAnswer(DOCS_PAGE)],
    [meta.docsFile.id, fileOf(DOCS_FILES)],
    [meta.docsSlash.id, (context, res) => redirect(context, res, 308, `..${meta.docs.path}`)],
    ...(graphiql === null
      ? []
      : ([
          [meta.graphiqlPage.id, staticAnswer(graphiql.page)],
          [meta.graphiqlFile.id, fileOf(graphiql.files)],
        ] as const)),
    [meta.consolePage.id, staticAnswer(CONSOLE_PAGE)],
    [meta.consoleFile.id, fileOf(CONSOLE_FILES)],
    [meta.consoleSlash.id, (context, res) => redirect(context, res, 308, `..${meta.consolePage.path}`)],
    [
      meta.root.id,
      (context, res) => {
        if (!WANTS_PAGE.test(context.req.headers.accept ?? '')) matchPath(null);
        redirect(context, res, 302, `.${meta.docs.path}`);
      },
    ],
  ]);
}

/** Browsers accept `text/html` by name; a program that accepts anything gets the answer of an unknown path. */
const WANTS_PAGE = /(?:^|,)\s*text\/html\b/i;

/** `to` is relative, because a proxy may serve the gateway under a path prefix. */
function redirect(context: RequestContext, res: ServerResponse, status: 302 | 308, to: string): void {
  startAnswer(context, res, status, ['Location', to, 'Vary', 'Accept', 'Content-Length', '0']);
  res.end();
}

function fileOf(files: ReadonlyMap<string, StaticFile>): OwnAnswer {
  const answers = new Map([...files].map(([name, file]) => [name, staticAnswer(file)]));
  return (context, res) => {
    const answer = answers.get(context.path.slice(context.path.lastIndexOf('/') + 1));
    if (answer === undefined) throw new Fault('not_found');
    return answer(context, res);
  };
}

function bytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
