import { Fault } from '@wts/contracts';
import type { Exchange } from './exchange.ts';
import type { CompiledRoute, PathEntry, RouteTable } from './route-table.ts';

/** 404: nothing of this name. Keeps errors.404.unknown-route. */
export function matchPath({ path }: Exchange, table: RouteTable): PathEntry {
  const entry = table(path);
  if (entry === null) throw new Fault('not_found');
  return entry;
}

/**
 * 405 with `Allow`: the name exists, the method does not. `X-HTTP-Method-Override` and its like change nothing.
 * Keeps errors.405.allow.
 */
export function matchMethod({ method }: Exchange, entry: PathEntry): CompiledRoute {
  const route = entry.methods.get(method);
  if (route === undefined) throw new Fault('method_not_allowed', { headers: { Allow: entry.allow } });
  return route;
}
