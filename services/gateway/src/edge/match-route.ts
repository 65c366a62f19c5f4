import { Fault } from '@wts/contracts';
import type { RequestContext } from './request-context.ts';
import type { CompiledRoute, PathEntry } from './route-table.ts';

/** A slash at the end is what people most often meet it by. */
const NO_OPERATION =
  'There is no operation at this path. Paths are case-sensitive and have no trailing slash. See /docs or /openapi.json.';

/** 404: nothing of this name. Keeps errors.404.unknown-route. */
export function matchPath(entry: PathEntry | null): PathEntry {
  if (entry === null) throw new Fault('not_found', { message: NO_OPERATION });
  return entry;
}

/**
 * 405 with `Allow`: the name exists, the method does not. `X-HTTP-Method-Override` and its like change nothing.
 * Keeps errors.405.allow.
 */
export function matchMethod({ method }: RequestContext, entry: PathEntry): CompiledRoute {
  const route = entry.methods.get(method);
  if (route === undefined) throw new Fault('method_not_allowed', { headers: { Allow: entry.allow } });
  return route;
}
