import { LIMITS } from '@wts/contracts';
import type { Route } from '../routes.ts';

/** A route with everything a request needs of it, computed once at the start. */
export interface CompiledRoute extends Route {
  readonly isSocket: boolean;
  /** Zero: the operation has no body, and none is forwarded. */
  readonly bodyBytesMax: number;
  /** A page of a service: it gets the cookies of the browser and may set some. No other operation does. */
  readonly hasCookies: boolean;
  /** `Deprecation`, `Sunset` and `Link` headers of a deprecated operation. */
  readonly notice: readonly string[];
}

/** All operations of one path. */
export interface PathEntry {
  readonly methods: ReadonlyMap<string, CompiledRoute>;
  /** Value of `Allow`. */
  readonly allow: string;
  /** Pages of any origin may read the answers. */
  readonly anyOrigin: boolean;
}

export type RouteTable = (path: string) => PathEntry | null;

interface Node {
  readonly literals: Map<string, Node>;
  parameter: Node | null;
  entry: PathEntry | null;
}

const newNode = (): Node => ({ literals: new Map(), parameter: null, entry: null });

/**
 * Compiles routes into a look-up by raw path. A literal segment matches byte for byte; a parameter matches one undecoded
 * segment. A path without parameters is one map look-up.
 * Keeps errors.404.unknown-route.
 */
export function compileRoutes(
  routes: readonly Route[],
  notices: ReadonlyMap<string, readonly string[]> = new Map(),
): RouteTable {
  const byPath = Map.groupBy(routes, (route) => route.contract.path);
  const exact = new Map<string, PathEntry>();
  const root = newNode();
  for (const [path, siblings] of byPath) {
    const entry = compilePath(siblings, notices);
    if (path.includes('{')) insert(root, path, entry);
    else exact.set(path, entry);
  }
  return (path) => exact.get(path) ?? walk(root, path);
}

function compilePath(siblings: readonly Route[], notices: ReadonlyMap<string, readonly string[]>): PathEntry {
  const methods = new Map<string, CompiledRoute>();
  for (const route of siblings) {
    const { contract } = route;
    if (contract.internal) throw new Error(`${contract.id} is internal and must not be in a public route table`);
    if (methods.has(contract.method)) throw new Error(`${contract.method} ${contract.path} is routed twice`);
    const compiled: CompiledRoute = {
      ...route,
      isSocket: contract.reply.status === 101,
      // A form has a limit and no schema of JSON.
      bodyBytesMax: contract.bodyBytesMax ?? (contract.body === undefined ? 0 : LIMITS.bodyBytes),
      hasCookies: contract.page === true,
      notice: notices.get(contract.id) ?? [],
    };
    methods.set(contract.method, compiled);
    // RFC 9110 section 9.3.2: a path with GET has HEAD.
    if (contract.method === 'GET' && !compiled.isSocket) methods.set('HEAD', compiled);
  }
  return {
    methods,
    allow: [...methods.keys(), 'OPTIONS'].join(', '),
    anyOrigin: siblings.every((route) => route.anyOrigin),
  };
}

function insert(root: Node, path: string, entry: PathEntry): void {
  let node = root;
  for (const segment of path.slice(1).split('/')) {
    if (segment.startsWith('{')) {
      node.parameter ??= newNode();
      node = node.parameter;
    } else {
      node = node.literals.getOrInsertComputed(segment, newNode);
    }
  }
  node.entry = entry;
}

/** A literal segment has precedence over a parameter, so that a slug cannot hide a fixed path. */
function walk(root: Node, path: string): PathEntry | null {
  const segments = path.split('/');
  const visit = (node: Node, at: number): PathEntry | null => {
    if (at === segments.length) return node.entry;
    const segment = segments[at] as string;
    const literal = node.literals.get(segment);
    const found = literal === undefined ? null : visit(literal, at + 1);
    if (found !== null) return found;
    return node.parameter !== null && isParameter(segment) ? visit(node.parameter, at + 1) : null;
  };
  return segments[0] === '' ? visit(root, 1) : null;
}

/** RFC 3986 `pchar`s, and no dot segment. `faultOfTarget` has refused bad percent-encoding. */
const PARAMETER = /^[A-Za-z0-9._~!$&'()*+,;=:@%-]+$/;

function isParameter(segment: string): boolean {
  return segment !== '.' && segment !== '..' && PARAMETER.test(segment);
}
