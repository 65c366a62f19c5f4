import { Fault } from '@wts/contracts';
import type { RequestContext } from './request-context.ts';
import type { CompiledRoute, PathEntry } from './route-table.ts';

/** Names the trailing slash, which is the most common cause. */
const NO_OPERATION = 'There is no operation at this path. Paths are case-sensitive and have no trailing slash.';

export function isRead({ method }: RequestContext): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Browsers accept `text/html` by name; a program that accepts anything gets the error. */
export function wantsPage({ req }: RequestContext): boolean {
  return /(?:^|,)\s*text\/html\b/i.test(req.headers.accept ?? '');
}

/** 404 for an unknown path, with the address of the documents, which are at the origin of the API. Keeps errors.404.unknown-route. */
export function matchPath(entry: PathEntry | null, apiUrl: string): PathEntry {
  if (entry === null)
    throw new Fault('not_found', { message: `${NO_OPERATION} See ${apiUrl}/docs or ${apiUrl}/openapi.json.` });
  return entry;
}

/**
 * 405 with `Allow` for an unknown method of a known path. `X-HTTP-Method-Override` and similar headers have no effect.
 * Keeps errors.405.allow.
 */
export function matchMethod({ method }: RequestContext, entry: PathEntry): CompiledRoute {
  const route = entry.methods.get(method);
  if (route === undefined) throw new Fault('method_not_allowed', { headers: { Allow: entry.allow } });
  return route;
}
