import { defineConfig } from 'oxlint';

/**
 * Layers: the imports that are forbidden by folder. `turbo boundaries` and the package.json files separate packages and services;
 * this table separates the folders inside a service, for what exists at run time; `IMPORTS` below is stricter, and of types too.
 */
const LAYERS: readonly { readonly files: string[]; readonly never: readonly ForbiddenImport[] }[] = [
  {
    files: ['services/*/src/domain/**'],
    never: [
      {
        group: ['../**/http/**', '../**/store/**', '../**/commands/**', '../**/queries/**'],
        why: 'domain/ is pure: it calls no other layer',
      },
      {
        group: ['pg', 'knex', 'nats', 'ws', 'express', 'undici', 'node:fs*', 'node:net', 'node:http*'],
        why: 'domain/ is pure: no input, no output',
      },
    ],
  },
  {
    files: ['services/*/src/http/**', 'services/*/src/socket/**'],
    never: [
      {
        group: ['../**/store/**', 'pg', 'knex'],
        why: 'an HTTP or socket handler has no SQL: call a command, a query or the commit engine',
      },
    ],
  },
  {
    files: ['services/*/src/store/**'],
    never: [
      {
        group: ['../**/http/**', '../**/socket/**', '../**/commands/**', 'express', 'ws'],
        why: 'store/ is the lowest layer: it imports no callers',
      },
    ],
  },
  {
    files: ['commands', 'queries', 'commit', 'decision', 'rules'].map((folder) => `services/*/src/${folder}/**`),
    never: [
      {
        group: ['../**/http/**', '../**/socket/**', 'express', 'ws'],
        why: 'rules are independent of HTTP and sockets',
      },
    ],
  },
];

/**
 * The layers of a service: what each folder of its `src/` may import of the others, types included; no two folders import each other.
 * A folder without a row imports none. A row named `x.ts` is of a file beside the folders: a folder may import this file where it may
 * import everything that the file may, so that no arrow goes up by way of it. Files without a row are imported by none.
 */
const IMPORTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  gateway: {
    rates: [],
    edge: ['rates'],
    openapi: [],
    console: ['edge'],
    docs: ['edge'],
    graphiql: ['edge'],
    'client-address.ts': [],
    'limits.ts': [],
    'page-headers.ts': [],
    'routes.ts': [],
    'upstream.ts': [],
    'static-answer.ts': ['edge'],
    'page-files.ts': ['edge'],
  },
  workspace: {
    domain: [],
    store: ['domain'],
    queries: ['domain', 'store'],
    commands: ['domain', 'queries', 'store'],
    http: ['commands', 'queries', 'store'],
    'context.ts': ['queries', 'store'],
  },
  auth: {
    domain: [],
    accounts: ['domain'],
    cells: ['domain'],
    store: ['domain'],
    directory: ['cells', 'domain', 'store'],
    moves: ['directory', 'domain', 'store'],
    record: ['domain', 'store'],
    migrations: ['store'],
    credentials: ['store'],
    links: ['domain', 'store'],
    mail: ['domain', 'links', 'pages', 'record', 'store'],
    oauth: ['credentials', 'domain', 'record', 'store'],
    queries: ['cells', 'store'],
    commands: ['accounts', 'cells', 'credentials', 'directory', 'domain', 'links', 'mail', 'oauth', 'record', 'store'],
    pages: ['domain', 'store'],
    http: [
      'accounts',
      'cells',
      'commands',
      'credentials',
      'directory',
      'domain',
      'links',
      'mail',
      'oauth',
      'pages',
      'queries',
      'record',
      'store',
    ],
    'config.ts': ['domain'],
    'context.ts': ['accounts', 'cells', 'credentials', 'directory', 'domain', 'mail', 'oauth', 'record', 'store'],
    'limits.ts': [],
    'metrics.ts': [],
  },
  'webhook-dispatcher': {
    domain: [],
    store: ['domain'],
    enqueue: ['domain', 'store'],
    lanes: ['domain', 'store'],
    attempt: ['domain'],
    queries: ['domain', 'store'],
    commands: ['domain', 'queries', 'store'],
    http: ['commands', 'domain', 'queries', 'store'],
    'limits.ts': [],
    'announcements.ts': [],
    'context.ts': ['domain', 'store'],
    'table-maintenance.ts': ['store'],
  },
  agent: {
    graph: [],
    views: ['graph'],
    tools: ['graph', 'views'],
    mcp: ['graph', 'tools', 'views'],
    http: ['graph', 'mcp', 'tools'],
    'limits.ts': [],
    'metrics.ts': [],
    'tool-error.ts': [],
  },
  sync: {
    store: [],
    decision: ['store'],
    rules: ['decision', 'store'],
    commit: ['decision', 'fairness', 'rules', 'store'],
    sweeps: ['commit', 'decision', 'store'],
    moves: ['commit', 'decision', 'rules', 'store'],
    schedule: ['commit', 'decision', 'store', 'sweeps'],
    migrations: ['store'],
    relay: ['store'],
    deltas: ['fairness'],
    snapshots: ['fairness', 'store'],
    bootstrap: ['deltas', 'fairness', 'snapshots', 'store'],
    'keyed-reads': ['snapshots'],
    queries: ['fairness', 'store'],
    socket: ['deltas', 'fairness', 'hub'],
    http: ['bootstrap', 'commit', 'deltas', 'fairness', 'keyed-reads', 'moves', 'queries', 'snapshots'],
    'limits.ts': [],
    'unless-aborted.ts': [],
    'log-maintenance.ts': ['store'],
    'metrics.ts': [],
  },
  graph: {
    domain: [],
    store: ['domain'],
    queries: ['domain', 'store'],
    commands: ['domain', 'queries', 'store'],
    graphql: ['commands', 'domain', 'queries', 'store'],
    http: ['commands', 'domain', 'graphql', 'queries'],
    'limits.ts': [],
  },
};

/** Files beside the folders that import none of them. */
const files = (...names: readonly string[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(names.map((name) => [`${name}.ts`, []]));

/** The same of packages that have folders. */
const PACKAGE_IMPORTS: typeof IMPORTS = {
  cli: {
    output: [],
    session: ['output'],
    records: ['output'],
    transfer: ['output'],
    commands: ['output', 'records', 'session', 'transfer'],
    program: ['commands', 'output', 'records', 'session'],
    ...files('fault', 'io', 'make-folder', 'options', 'version'),
    'call.ts': ['output', 'session'],
  },
  client: { api: [], names: [], ...files('error', 'http', 'retry') },
  contracts: {
    auth: [],
    operator: ['auth'],
    sync: ['operator'],
    webhooks: ['sync'],
    ...files('actions', 'api-keys', 'contract', 'errors', 'example-ids', 'ids', 'limits', 'members', 'parts', 'scopes'),
    ...files('type-of', 'workspaces'),
  },
  log: { stream: [], ...files('json-text', 'log-reader', 'logger') },
  models: { words: [], repeat: [], models: ['words'], 'field.ts': ['words'], 'model.ts': ['words'] },
  'service-kit': {
    config: [],
    fairness: [],
    egress: [],
    sealing: [],
    observe: ['config'],
    nats: ['observe'],
    postgres: ['config', 'observe'],
    background: ['observe', 'postgres'],
    migrate: ['config', 'observe', 'postgres'],
    call: ['config', 'fairness', 'observe'],
    http: ['config', 'fairness', 'observe', 'postgres'],
    routes: ['call', 'fairness', 'http', 'observe', 'postgres', 'sealing'],
    life: ['config', 'fairness', 'http', 'migrate', 'observe'],
    main: ['config', 'life', 'migrate'],
    seed: ['call', 'config', 'observe', 'postgres'],
    'limits.ts': [],
  },
};

/** Include the layers of every service, because only the last override of a file applies. */
const FOLDER_LAYERS: typeof LAYERS = [
  ...Object.entries(IMPORTS).map(([service, rows]) => [`services/${service}`, rows] as const),
  ...Object.entries(PACKAGE_IMPORTS).map(([name, rows]) => [`packages/${name}`, rows] as const),
].flatMap(([folder, rows]) =>
  Object.entries({ '*': [], ...rows }).flatMap(([name, may]) => layersOf(folder, rows, { name, may })),
);

/** Of files in the folder, and of files in a folder inside it, which import with one `..` more. */
function layersOf(
  folder: string,
  rows: Readonly<Record<string, readonly string[]>>,
  { name, may }: { readonly name: string; readonly may: readonly string[] },
): typeof LAYERS {
  const isFile = name.endsWith('.ts');
  const reachable = Object.keys(rows).filter(
    (file) => file.endsWith('.ts') && rows[file]?.every((one) => may.includes(one)),
  );
  const general = LAYERS.filter((layer) => layer.files.includes(`${folder.replace(/\/.*/, '/*')}/src/${name}/**`));
  const why = `${name} may import ${may.length === 0 ? 'no folder' : `only ${may.join(', ')}`} of ${folder}`;
  const places = isFile ? [['', '.'] as const] : [['/*', '..'] as const, ['/*/**', '../..'] as const];
  return places.map(([inside, up]) => ({
    files: [`${folder}/src/${name}${inside}`],
    never: [
      ...general.flatMap(({ never }) => never),
      {
        group: [
          `${up}/*/**`,
          ...may.map((other) => `!${up}/${other}/**`),
          ...(isFile ? [] : [`${up}/*.ts`, ...reachable.map((file) => `!${up}/${file}`)]),
        ],
        why,
        typesToo: true,
      },
    ],
  }));
}

interface ForbiddenImport {
  readonly group: string[];
  readonly why: string;
  /** Types may not be imported either. */
  readonly typesToo?: boolean;
}

/** Forbidden in every file. */
const EVERYWHERE: readonly ForbiddenImport[] = [
  { group: ['@wts/*/src', '@wts/*/src/**'], why: 'import the package, not a file inside it' },
];
const SHIPPED: readonly ForbiddenImport[] = [
  ...EVERYWHERE,
  {
    group: ['@wts/testkit', '@wts/local', '@wts/bench', '@wts/tidy', '@wts/test-e2e'],
    why: 'services and packages never import tests or the local stack',
  },
];

const restrictedImports = (list: readonly ForbiddenImport[]): ['error', object] => [
  'error',
  {
    patterns: list.map(({ group, why, typesToo = false }) => ({
      group,
      message: `${why}.`,
      allowTypeImports: !typesToo,
    })),
  },
];

const TESTS = ['**/*.test.ts', '**/test/**', 'test-e2e/**', 'infra/testkit/**'];
const INFRA = ['infra/**', 'oxlint.config.ts'];

export default defineConfig({
  options: { typeAware: true, reportUnusedDisableDirectives: 'error', denyWarnings: true },
  plugins: ['eslint', 'typescript', 'unicorn', 'oxc', 'import', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  env: { es2026: true, node: true },
  ignorePatterns: [
    '**/node_modules/**',
    '.local/**',
    '**/.turbo/**',
    '**/coverage/**',
    '**/dist/**',
    'packages/client/test/consumer/**',
  ],
  rules: {
    // Imports
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'import/no-duplicates': 'error',
    'import/no-commonjs': 'error',
    'import/no-mutable-exports': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-import-type-side-effects': 'error',
    'no-restricted-imports': restrictedImports(SHIPPED),

    // Promises: a lost rejection is a lost error
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'no-return-assign': 'error',

    // Types are complete and safe
    'typescript/no-explicit-any': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-deprecated': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/use-unknown-in-catch-callback-variable': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/prefer-nullish-coalescing': 'error',
    'typescript/prefer-optional-chain': 'error',

    // Readability
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-else-return': 'error',
    'max-depth': ['error', 4],
    complexity: ['error', 20],
    'max-params': ['error', { max: 4 }],

    // Only entry files read the environment; output goes through the log
    'no-console': 'error',
    'node/no-process-env': 'error',

    // Not used
    'no-await-in-loop': 'off', // a loop that awaits keeps the order
    'no-underscore-dangle': 'off', // `__class` is on the wire
    'no-shadow': 'off', // short names in small scopes are readable
    'typescript/no-unsafe-type-assertion': 'off', // parsing ends in an assertion; no-unsafe-* watch the rest
    'typescript/consistent-return': 'off', // noImplicitReturns of the compiler checks it
    'unicorn/consistent-function-scoping': 'off', // a helper may be next to its only use
    'unicorn/no-array-sort': 'off',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off', // `fc.assert`, `pg.Pool`: the documented way of those libraries
    'no-unmodified-loop-condition': 'off', // other code changes it during an await
    'oxc/no-map-spread': 'off', // records are copied, not changed
    'unicorn/prefer-set-has': 'off', // a list of three is a list
    'typescript/no-misused-spread': ['error', { allow: ['string'] }], // how code points are counted
    'promise/always-return': 'off',
  },
  overrides: [
    ...[...LAYERS, ...FOLDER_LAYERS].map(({ files, never }) => ({
      files,
      rules: { 'no-restricted-imports': restrictedImports([...SHIPPED, ...never]) },
    })),
    {
      // `run`, which every main.ts calls, passes the environment to the settings.
      files: ['**/src/main.ts', '**/src/seed.ts', 'packages/service-kit/src/main/run.ts'],
      rules: { 'node/no-process-env': 'off' as const },
    },
    {
      files: INFRA,
      rules: {
        'no-console': 'off' as const,
        'node/no-process-env': 'off' as const,
        'no-restricted-imports': restrictedImports(EVERYWHERE),
        'import/no-default-export': 'off' as const,
      },
    },
    {
      files: TESTS,
      rules: {
        'node/no-process-env': 'off' as const,
        'no-restricted-imports': restrictedImports(EVERYWHERE),
        'typescript/no-non-null-assertion': 'off' as const, // a test without a result should fail there
        complexity: 'off' as const, // a table of cases is long, not complex
      },
    },
    { files: ['**/*.mjs'], rules: { 'typescript/no-unsafe-assignment': 'off' as const } },
  ],
});
