import { defineConfig } from 'oxlint';

/**
 * Layers: where a file stands decides what it may import. Packages and services are held apart by `turbo boundaries`
 * and by what each package.json declares; this table holds the folders inside a service apart. The first column is
 * where the file stands, the second what it may not import. Types cross freely: they leave no trace at run time.
 */
const LAYERS: readonly { readonly files: string[]; readonly never: readonly Wall[] }[] = [
  {
    files: ['services/*/src/domain/**'],
    never: [
      {
        group: ['../**/http/**', '../**/store/**', '../**/commands/**', '../**/queries/**'],
        why: 'domain/ is pure: it is called, it never calls',
      },
      {
        group: ['pg', 'knex', 'nats', 'ws', 'express', 'undici', 'node:fs*', 'node:net', 'node:http*'],
        why: 'domain/ is pure: no input, no output',
      },
    ],
  },
  {
    files: ['services/*/src/http/**', 'services/*/src/socket/**', 'services/gateway/src/edge/**'],
    never: [
      { group: ['../**/store/**'], why: 'a door holds no SQL: ask a command, a query or the commit engine' },
      { group: ['pg', 'knex'], why: 'a door holds no SQL: ask a command, a query or the commit engine' },
    ],
  },
  {
    files: ['services/*/src/store/**'],
    never: [
      {
        group: ['../**/http/**', '../**/socket/**', '../**/commands/**', 'express', 'ws'],
        why: 'store/ is the lowest layer: it knows rows, no callers',
      },
    ],
  },
  {
    files: ['services/*/src/commands/**', 'services/*/src/queries/**', 'services/*/src/commit/**'],
    never: [
      {
        group: ['../**/http/**', '../**/socket/**', 'express', 'ws'],
        why: 'rules are the same whoever asks: they know no door',
      },
    ],
  },
];

/**
 * What each folder of the sync service may import of the others, types too: what knows another is not known by it. A folder
 * that is not named here imports none.
 */
const SYNC_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  '*': [],
  store: [],
  commit: ['fairness', 'store'],
  sweeps: ['commit', 'store'],
  relay: ['store'],
  deltas: ['fairness'],
  snapshots: ['fairness', 'store'],
  bootstrap: ['deltas', 'fairness', 'snapshots', 'store'],
  lookup: ['snapshots'],
  socket: ['deltas', 'fairness', 'hub'],
  http: ['bootstrap', 'commit', 'deltas', 'fairness', 'lookup', 'snapshots'],
};

/** With what holds for a folder of that name in every service, because the last table that names a file is the one in force. */
const SYNC_LAYERS: typeof LAYERS = Object.entries(SYNC_IMPORTS).map(([folder, may]) => ({
  files: [`services/sync/src/${folder}/**`],
  never: [
    ...LAYERS.filter(({ files }) => files.includes(`services/*/src/${folder}/**`)).flatMap(({ never }) => never),
    {
      group: ['../*/**', ...may.map((other) => `!../${other}/**`)],
      why: `${folder}/ may import ${may.length === 0 ? 'no other folder' : `only ${may.join(', ')}`} of the service`,
      typesToo: true,
    },
  ],
}));

interface Wall {
  readonly group: string[];
  readonly why: string;
  /** Types may not be imported either. */
  readonly typesToo?: boolean;
}

/** Holds for every file that ships. */
const EVERYWHERE: readonly Wall[] = [
  { group: ['@wts/*/src', '@wts/*/src/**'], why: 'import the package, not a file inside it: its index is its promise' },
];
const SHIPPED: readonly Wall[] = [
  ...EVERYWHERE,
  {
    group: ['@wts/testkit', '@wts/local', '@wts/bench', '@wts/tidy', '@wts/test-e2e'],
    why: 'what ships never imports what tests or runs it',
  },
];

const walls = (list: readonly Wall[]): ['error', object] => [
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
  ignorePatterns: ['**/node_modules/**', '.local/**', '**/.turbo/**', '**/coverage/**', '**/dist/**'],
  rules: {
    // Imports
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'import/no-duplicates': 'error',
    'import/no-commonjs': 'error',
    'import/no-mutable-exports': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-import-type-side-effects': 'error',
    'no-restricted-imports': walls(SHIPPED),

    // Promises: a lost rejection is a lost error
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'no-return-assign': 'error',

    // Types say what is true
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

    // Plain reading
    eqeqeq: 'error',
    'no-var': 'error',
    'prefer-const': 'error',
    'no-else-return': 'error',
    'max-depth': ['error', 4],
    complexity: ['error', 20],

    // Configuration is read once, at the top; output goes through the log
    'no-console': 'error',
    'node/no-process-env': 'error',

    // Not for us
    'no-await-in-loop': 'off', // a loop that awaits is how order is kept here; parallel work is written as such
    'no-underscore-dangle': 'off', // `__class` is on the wire
    'no-shadow': 'off', // short names in small scopes read better than invented ones
    'typescript/no-unsafe-type-assertion': 'off', // parsing ends in an assertion; no-unsafe-* watch the rest
    'typescript/consistent-return': 'off', // noImplicitReturns of the compiler says it
    'unicorn/consistent-function-scoping': 'off', // a helper may live beside its only use
    'unicorn/no-array-sort': 'off',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off', // `fc.assert`, `pg.Pool`: the documented way of those libraries
    'no-unmodified-loop-condition': 'off', // the other side of an await changes it
    'oxc/no-map-spread': 'off', // a new record from an old one is how data is changed here
    'unicorn/prefer-set-has': 'off', // a list of three is a list
    'typescript/no-misused-spread': ['error', { allow: ['string'] }], // how code points are counted
    'promise/always-return': 'off',
  },
  overrides: [
    ...[...LAYERS, ...SYNC_LAYERS].map(({ files, never }) => ({
      files,
      rules: { 'no-restricted-imports': walls([...SHIPPED, ...never]) },
    })),
    {
      // `run` is what every main.ts is made of: it hands the environment to the settings, once.
      files: ['**/src/main.ts', '**/src/migrate.ts', '**/src/seed.ts', 'packages/service-kit/src/life/run.ts'],
      rules: { 'node/no-process-env': 'off' as const },
    },
    {
      files: INFRA,
      rules: {
        'no-console': 'off' as const,
        'node/no-process-env': 'off' as const,
        'no-restricted-imports': walls(EVERYWHERE),
        'import/no-default-export': 'off' as const,
      },
    },
    {
      files: TESTS,
      rules: {
        'node/no-process-env': 'off' as const,
        'no-restricted-imports': walls(EVERYWHERE),
        'typescript/no-non-null-assertion': 'off' as const, // a test that finds nothing should fail there
        complexity: 'off' as const, // a table of cases is long, not complicated
      },
    },
    { files: ['**/*.mjs'], rules: { 'typescript/no-unsafe-assignment': 'off' as const } },
  ],
});
