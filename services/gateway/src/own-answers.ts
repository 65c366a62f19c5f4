import type { ServerResponse } from 'node:http';
import { apiResourceOf, issuerOf } from '@wts/access';
import { Fault, meta } from '@wts/contracts';
import type { Readiness } from '@wts/service-kit/observe';
import { readConsole } from './console/page.ts';
import { readDocs } from './docs/page.ts';
import { readGraphiql } from './graphiql/page.ts';
import type { GatewayConfig } from './config.ts';
import { JSON_TYPE, answerJson, startAnswer } from './edge/answer.ts';
import type { OwnAnswer } from './edge/edge.ts';
import type { RequestContext } from './edge/request-context.ts';
import { matchPath, wantsPage } from './edge/match-route.ts';
import type { PageFiles } from './page-files.ts';
import { staticAnswer } from './static-answer.ts';

/**
 * The operations that the gateway answers itself. Bodies are made once; only readiness calls other services.
 * Keeps meta.health.no-wait, meta.health.up.
 * Keeps meta.openapi.answer, meta.docs.page, meta.docs.found, console.page.
 */
export function ownAnswers(
  readiness: Readiness,
  description: object,
  { authUrl, baseUrl, graphiql }: Pick<GatewayConfig, 'authUrl' | 'baseUrl' | 'graphiql'>,
): ReadonlyMap<string, OwnAnswer> {
  const up = bytes({ ok: true, status: 'up' });
  const ready = bytes({ ok: true, status: 'ready' });
  const accountUrl = `${issuerOf(authUrl)}/account`;
  const noStore = ['Cache-Control', 'no-store'];
  const [docs, webhooks] = [answersOf(readDocs(accountUrl)), answersOf(readConsole(accountUrl))];
  const ide = graphiql ? answersOf(readGraphiql()) : null;
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
    [meta.docs.id, docs.page],
    [meta.docsFile.id, docs.file],
    [meta.docsSlash.id, (context, res) => redirect(context, res, 308, `..${meta.docs.path}`)],
    ...(ide === null
      ? []
      : ([
          [meta.graphiqlPage.id, pageForBrowsers(ide.page)],
          [meta.graphiqlFile.id, ide.file],
        ] as const)),
    [meta.consolePage.id, webhooks.page],
    [meta.consoleFile.id, webhooks.file],
    [meta.consoleSlash.id, (context, res) => redirect(context, res, 308, `..${meta.consolePage.path}`)],
    [
      meta.root.id,
      (context, res) => {
        if (!wantsPage(context)) matchPath(null, apiResourceOf(baseUrl));
        redirect(context, res, 302, `.${meta.docs.path}`);
      },
    ],
  ]);
}

/** A program that reads by GET is told that operations are POST, and does not take the text of the page for an answer. Keeps graphql.page. */
function pageForBrowsers(answer: OwnAnswer): OwnAnswer {
  return (context, res) => {
    context.reply.push('Vary', 'Accept');
    if (!wantsPage(context))
      throw new Fault('method_not_allowed', { message: POST_ONLY, headers: { Allow: 'POST, OPTIONS' } });
    return answer(context, res);
  };
}

const POST_ONLY = 'Send operations by POST. Browsers that accept text/html get the page GraphiQL here.';

/** `to` is relative, because a proxy may serve the gateway under a path prefix. */
function redirect(context: RequestContext, res: ServerResponse, status: 302 | 308, to: string): void {
  startAnswer(context, res, status, ['Location', to, 'Vary', 'Accept', 'Content-Length', '0']);
  res.end();
}

function answersOf({ page, files, version }: PageFiles): { readonly page: OwnAnswer; readonly file: OwnAnswer } {
  const answers = new Map([...files].map(([name, content]) => [name, staticAnswer(content, version)]));
  const file: OwnAnswer = (context, res) => {
    const answer = answers.get(context.path.slice(context.path.lastIndexOf('/') + 1));
    if (answer === undefined) throw new Fault('not_found');
    return answer(context, res);
  };
  return { page: staticAnswer(page), file };
}

function bytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
