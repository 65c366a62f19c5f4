import { isProduct, isTest } from '../files.ts';
import type { Finding, Tree } from '../tree.ts';

const TABLE = 'packages/contracts/src/errors.ts';
const CONTRACTS = 'packages/contracts/';
const LISTS_OF_ERRORS = /(?:\berrors:|_ERRORS =) \[[^\]]*\]/g;

/**
 * Every error code must be used by code and cited by a test. An operation that lists a code among its errors is no use of it.
 */
export function errorCodes(tree: Tree, codes: readonly string[]): Finding[] {
  const product = tree.files.filter((path) => isProduct(path) && path !== TABLE);
  const givers = textOf(tree, product).replace(LISTS_OF_ERRORS, '');
  const tests = textOf(tree, tree.files.filter(isTest));
  return codes.flatMap((code): Finding[] => {
    const word = quoted(code);
    if (!word.test(givers))
      return [{ path: TABLE, message: `nothing gives "${code}": give it, or take the row out until something does` }];
    if (!word.test(tests)) return [{ path: TABLE, message: `no test names "${code}": show when a caller meets it` }];
    return [];
  });
}

/** Services share a database, so two locks with one number would wait for each other. What a migration took stays taken. */
export function advisoryLocks(tree: Tree): Finding[] {
  const taken = new Map<string, string>();
  return tree.files.filter(isProduct).flatMap((path) => {
    const user = path.replace(/(?<=\/migrations\/).*/, '');
    const numbers = (tree.read(path).match(/\b7_?368_?\d{3}\b/g) ?? []).map((number) => number.replaceAll('_', ''));
    return numbers.flatMap((number): Finding[] => {
      const other = taken.get(number);
      taken.set(number, user);
      const isFree = other === undefined || (other === user && user !== path);
      return isFree
        ? []
        : [{ path, message: `takes the advisory lock ${number}, as ${other} does: take another number` }];
    });
  });
}

/** What the check needs of a contract; `name` is the way it is exported, `workspaceApi.createWorkspace`. */
export interface Operation {
  readonly name: string;
  readonly path: string;
  readonly scope?: string;
  readonly internal?: object;
  readonly page?: true;
}

const SCOPES = new Set(['read', 'write', 'admin']);
/** Open to all callers, because they show nothing of a person or identify their caller by a session or a credential of their own. */
const OPEN = new Set([
  '/',
  '/health',
  '/ready',
  '/openapi.json',
  '/docs',
  '/docs/',
  '/docs/{version}/{file}',
  '/console',
  '/console/',
  '/console/{version}/{file}',
  '/api/webhooks/event-types',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/jwks',
  // A client registers without a credential; it authenticates itself at the token endpoint.
  '/register',
  '/token',
  '/graphql',
  '/graphql/ui/{version}/{file}',
  '/graphql/schema.graphql',
  '/account/connect/key',
  '/account/connect/sign-out',
]);

/** A test of auth sends each operation below it without an operator token. */
const GUARDED = '/operator/';

const ROUTES = 'services/gateway/src/routes.ts';

/** Every declared operation is served and has a scope, and is reached through the gateway or is internal. */
export function operations(tree: Tree, declared: readonly Operation[]): Finding[] {
  const servers = textOf(
    tree,
    tree.files.filter((path) => isProduct(path) && !path.startsWith(CONTRACTS)),
  );
  const served = new Set(SERVED.flatMap((way) => Array.from(servers.matchAll(way), ([, name]) => name)));
  return declared.flatMap(({ name, path, scope, internal, page }): Finding[] => {
    const findings: Finding[] = [];
    const short = name.split('.').at(-1) ?? name;
    if (!served.has(short)) {
      findings.push({
        path: CONTRACTS,
        message: `${name} (${path}) is declared and nowhere mounted: mount it in the service that owns it`,
      });
    }
    const api = name.split('.').at(-2);
    const row = new RegExp(`\\b(?:contract: (?:\\w+\\.)?${short}|rowsOf\\(${api})\\b`);
    if (internal === undefined && !row.test(tree.read(ROUTES)))
      findings.push({ path: ROUTES, message: `${name} (${path}) is public and has no row in the route table` });
    if (!SCOPES.has(scope ?? '') && internal === undefined && !page && !OPEN.has(path) && !path.startsWith(GUARDED))
      findings.push({ path: CONTRACTS, message: `${name} (${path}) is open to all callers: give it a scope` });
    if ((internal !== undefined) !== path.startsWith('/internal/')) {
      findings.push({
        path: CONTRACTS,
        message: `${name} (${path}): internal operations, and only they, live under /internal/`,
      });
    }
    return findings;
  });
}

/** An operation is mounted on a router or in a list that is, served by the gateway itself, or the path of upgrades. */
const SERVED = [
  /\bmount(?:Stream|(?:Member)?Page(?:With)?)?\(\s*[\w.]+,\s*(?:\w+\.)?(\w+)/g,
  /\bmount(?:Operation|able)\(\s*(?:\w+\.)?(\w+)/g,
  /\[\s*(?:\w+\.)?(\w+)\.id,/g,
  /pathname !== (?:\w+\.)?(\w+)\.path\b/g,
];

/** A subject with two producers has no order, one with none is dead. Every publish names its subject by the constant, or by `of`, the stream of one log. */
export function producers(tree: Tree, subjects: readonly string[]): Finding[] {
  const sources = tree.files.filter(isProduct);
  return subjects.flatMap((subject): Finding[] => {
    const publish = new RegExp(`\\.publish\\(\\s*(?:STREAM|(?:this\\.#)?of)\\.${subject}\\b`);
    const from = sources.filter((path) => publish.test(tree.read(path)));
    if (from.length === 1) return [];
    const found = from.length === 0 ? 'nothing publishes it' : `published by ${from.join(' and ')}`;
    return [
      { path: 'packages/contracts/src/actions.ts', message: `STREAM.${subject} needs exactly one producer; ${found}` },
    ];
  });
}

/** A table of bounds: one name to a line. */
const BOUNDS = /^ {2}(\w+): /gm;

/** Names that code reads as a property, or takes out of a table. */
const READ = /(?:\.|[{,]\s*)(\w+)/g;

/** A bound that no code reads has no effect. */
export function bounds(tree: Tree, tables: readonly string[]): Finding[] {
  const readers = tree.files
    .filter(isProduct)
    .map((path) => ({ path, names: new Set(Array.from(tree.read(path).matchAll(READ), ([, name]) => name)) }));
  return tables.flatMap((table): Finding[] =>
    [...tree.read(table).matchAll(BOUNDS)].flatMap(([, name = '']): Finding[] =>
      readers.some(({ path, names }) => path !== table && names.has(name))
        ? []
        : [{ path: table, message: `nothing reads ${name}: hold what it bounds to it, or take it out` }],
    ),
  );
}

function textOf(tree: Tree, paths: readonly string[]): string {
  return paths.map((path) => tree.read(path)).join('\n');
}

function quoted(word: string): RegExp {
  return new RegExp(`(['"\`])${word}\\1`);
}

/** The text of a statement, from the quote that opens it: its verb and the word that must follow somewhere. */
const STATEMENT =
  /['"`]\s*(?:select\s[^'"`]*\sfrom\s|select\s+[a-z_.]+\(|insert\s+into\s|update\s+[\w.${}]+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s|set\s+local\s|lock\s+table\s|rollback['"`]|begin(?:\s+isolation\s[^'"`]*)?['"`])/i;

/** SQL is in `store/` and `migrations/` of a service only, so that the other folders have rules and no names of columns. */
export function sqlOutsideStore(tree: Tree): Finding[] {
  return tree.files
    .filter((path) => isProduct(path) && path.startsWith('services/') && !/\/(?:store|migrations)\//.test(path))
    .flatMap((path): Finding[] => {
      const statement = STATEMENT.exec(tree.read(path))?.[0];
      return statement === undefined ? [] : [{ path, message: `holds SQL (${statement.trim()}): move it to store/` }];
    });
}
