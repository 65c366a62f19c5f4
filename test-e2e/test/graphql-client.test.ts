import { generate } from '@graphql-codegen/cli';
import { startTestSystem, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposableSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DAY_DOCUMENTS } from '../graphql/day-documents.ts';
import { DAY_PROGRAM, MISTAKES } from '../graphql/day-program.ts';

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

describe('a client that is generated from the GraphQL schema', function () {
  this.timeout(120_000);
  let testSystem: TestSystem;
  before(async () => {
    testSystem = await startTestSystem({
      label: 'graphql-client',
      services: ['graph'],
      overrides: { gateway: { RATE_LIMITS: '{"graphql": 0}' } },
    });
  });
  after(() => testSystem.close());

  it('compiles with the strictest options and does a day of work, with every change live at its position [graphql.client.generated, graphql.writes.one-log]', async () => {
    const { status, headers, text: sdl } = await testSystem.request(null, 'GET', '/graphql/schema.graphql');
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^text\/plain/);
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
      env: {
        ...process.env,
        BASE_URL: testSystem.baseUrl,
        TOKEN: person.token,
        WORKSPACE_ID: testSystem.workspaceId,
      },
    });
    assert.match(stdout, /the day is done/);
  });
});
