import { generate } from '@graphql-codegen/cli';
import { npmPackage, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempDisposableSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DAY_DOCUMENTS } from '../graphql/day-documents.ts';
import { DAY_PROGRAM, MISTAKES } from '../graphql/day-program.ts';
import { sharedSystem } from './shared-system.ts';

const run = promisify(execFile);
const HOME = join(import.meta.dirname, '..');
const ROOT = join(HOME, '..');

/** The strict compiler options of this project. */
const OPTIONS = {
  target: 'esnext',
  lib: ['esnext'],
  module: 'nodenext',
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
};

const CONFIG = {
  enumType: 'string-literal',
  enumsAsTypes: true,
  useTypeImports: true,
  strictScalars: true,
  scalars: {
    ID: 'string',
    Date: { input: 'string | number', output: 'string' },
    DateTime: { input: 'string | number', output: 'string' },
    JSON: 'unknown',
  },
};

/** With the programs of five platforms. */
const RELAY_COMPILER = {
  name: 'relay-compiler',
  version: '21.0.1',
  sha512: 'Wqlg3MtHyBlAYByVo24Wy9H3n2bAw991gPmzdo3XfNv+TzhI8zuGogtiae+7NORI7zhghgZaHC7Sp8S8ZPRYEA==',
};
const FETCH_MS = 180_000;
const RELAY_CONFIG = { src: './src', schema: './schema.graphql', language: 'typescript', artifactDirectory: './made' };

/** As `useFragment`, `useRefetchableFragment` and `usePaginationFragment` need them. */
const RELAY_SOURCE = `
graphql\`fragment Project_item on Project @refetchable(queryName: "ProjectRefetch") { id name status }\`;
graphql\`fragment Project_tasks on Project
  @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "String" })
  @refetchable(queryName: "ProjectMoreTasks") {
  tasks(first: $count, after: $cursor) @connection(key: "Project_tasks") { edges { node { id title } } }
}\`;
graphql\`query ProjectPage($id: ID!, $ids: [ID!]!) {
  node(id: $id) { ...Project_item @alias ...Project_tasks @alias }
  nodes(ids: $ids) { ...Project_item @alias }
}\`;
`;

describe('a client that is generated from the GraphQL schema', function () {
  let testSystem: TestSystem;
  before(async () => (testSystem = await sharedSystem()));

  const schemaText = async (): Promise<string> => {
    const { status, headers, text } = await testSystem.request(null, 'GET', '/graphql/schema.graphql');
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^text\/plain/);
    return text;
  };

  it('of Relay compiles with refetchable and paginated fragments [graphql.client.relay]', async function relay() {
    this.timeout(120_000 + FETCH_MS);
    const compiler = join(await npmPackage(RELAY_COMPILER), 'cli.js');
    using made = mkdtempDisposableSync(join(tmpdir(), 'wts-relay-'));
    const directory = made.path;
    const inDirectory = (name: string): string => join(directory, name);
    for (const folder of ['src', 'made']) mkdirSync(inDirectory(folder));
    writeFileSync(inDirectory('schema.graphql'), await schemaText());
    writeFileSync(inDirectory('src/project.ts'), RELAY_SOURCE);
    writeFileSync(inDirectory('relay.config.json'), JSON.stringify(RELAY_CONFIG));
    // Watchman, where it is installed, would watch the directory.
    const env = { ...process.env, FORCE_NO_WATCHMAN: '1' };
    const { stdout, stderr } = await run(process.execPath, [compiler, 'relay.config.json'], { cwd: directory, env });
    const artifacts = readdirSync(inDirectory('made')).toSorted();
    const names = ['ProjectMoreTasks', 'ProjectPage', 'ProjectRefetch', 'Project_item', 'Project_tasks'];
    assert.deepEqual(
      artifacts,
      names.map((name) => `${name}.graphql.ts`),
      stdout + stderr,
    );
  });

  it('compiles with the strictest options and does a day of work, with every change live at its position [graphql.client.generated, graphql.writes.one-log]', async () => {
    const sdl = await schemaText();
    using made = mkdtempDisposableSync(join(tmpdir(), 'wts-graphql-'));
    const directory = made.path;
    const files = (await generate(
      {
        schema: sdl,
        documents: DAY_DOCUMENTS,
        silent: true,
        config: CONFIG,
        generates: {
          // All types of the schema, and those of the client's operations.
          [join(directory, 'schema.ts')]: { plugins: ['typescript'] },
          [join(directory, 'documents.ts')]: { plugins: ['typescript-operations', 'typed-document-node'] },
        },
      },
      false,
    )) as { filename: string; content: string }[];
    for (const { filename, content } of files) writeFileSync(filename, content);
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(join(directory, 'day.ts'), DAY_PROGRAM);
    writeFileSync(join(directory, 'mistakes.ts'), MISTAKES);
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }));
    symlinkSync(join(HOME, 'node_modules'), join(directory, 'node_modules'));
    const faults = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', directory]).then(
      () => '',
      (refused: unknown) => String((refused as { readonly stdout?: string }).stdout ?? refused),
    );
    assert.equal(faults, '');

    const person = await testSystem.member('Dana');
    const { stdout } = await run(process.execPath, [join(directory, 'day.ts')], {
      env: { ...process.env, BASE_URL: testSystem.baseUrl, TOKEN: person.token, WORKSPACE_ID: testSystem.workspaceId },
    });
    assert.match(stdout, /the day is done/);
  });
});
