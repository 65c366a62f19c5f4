import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

interface Column {
  readonly type: string;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
}

interface Schema {
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Column>>;
  /** With their arguments. */
  readonly functions: ReadonlySet<string>;
}

/** Of a dump that `infra/verify/test/schema.ts` wrote. */
function parse(sql: string): Schema {
  const tables = new Map(
    [...sql.matchAll(/^create table (\S+) \(\n(.*?)\n\)/gms)].map(([, table = '', body = '']) => {
      const columns = body
        .split('\n')
        .map((line) => /^ {2}(?!constraint )(\S+) (.*?)( default .*?)?( not null)?,?$/.exec(line))
        .filter((match) => match !== null)
        .map(([, name = '', type = '', standard, required]): [string, Column] => [
          name,
          { type, isRequired: required !== undefined, hasDefault: standard !== undefined },
        ]);
      return [table, new Map(columns)];
    }),
  );
  const functions = [...sql.matchAll(/^CREATE OR REPLACE FUNCTION (\S+\([^)]*\))/gm)].map(([, name = '']) => name);
  return { tables, functions: new Set(functions) };
}

/** What the code of `before` uses and `after` does not have, by its name. */
function contractions(before: Schema, after: Schema): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of before.functions) if (!after.functions.has(name)) found.set(name, 'the function is dropped');
  for (const [table, columns] of before.tables) {
    const now = after.tables.get(table);
    if (now === undefined) {
      found.set(table, 'the table is dropped');
      continue;
    }
    for (const [name, column] of columns) {
      const next = now.get(name);
      if (next === undefined) found.set(`${table}.${name}`, 'the column is dropped');
      else if (next.type !== column.type) found.set(`${table}.${name}`, `its type changes to ${next.type}`);
      else if (next.isRequired && !column.isRequired) found.set(`${table}.${name}`, 'it may no longer be null');
    }
    for (const [name, { isRequired, hasDefault }] of now)
      if (!columns.has(name) && isRequired && !hasDefault)
        found.set(`${table}.${name}`, 'new rows need a value, which the version before does not give');
  }
  return found;
}

/** In a migration: `// Contracts auth.a, auth.b: why nothing that still runs needs them`. */
function announced(): Set<string> {
  const sources = globSync('services/*/src/migrations/*.ts', { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  const names = sources.flatMap((source) =>
    [...source.matchAll(/^\/\/ Contracts (.+?): /gm)].flatMap(([, list = '']) => list.split(', ')),
  );
  return new Set(names);
}

describe('an upgrade without a stop', () => {
  const read = (name: string): Schema => parse(readFileSync(join(ROOT, 'infra/postgres', name), 'utf8'));

  it('keeps in the schema what the last release uses, except what a migration says to contract', () => {
    const found = contractions(read('released.sql'), read('schema.sql'));
    const allowed = announced();
    assert.deepEqual(
      [...found].filter(([name]) => !allowed.has(name)).map(([name, why]) => `${name}: ${why}`),
      [],
      'Expand first: keep what the last release uses. Contract a release later, and say so in the migration; see infra/docs/upgrade.md.',
    );
    assert.deepEqual(
      [...allowed].filter((name) => !found.has(name)),
      [],
      'said to be contracted, and still there',
    );
  });

  it('is broken by each kind of contraction', () => {
    const before = parse(
      'create table a.kept (\n  one text not null,\n  two text,\n  three text\n);\ncreate table a.gone (\n  one text\n);\nCREATE OR REPLACE FUNCTION a.f(x integer)',
    );
    const after = parse(
      'create table a.kept (\n  one uuid not null,\n  two text not null,\n  four text not null,\n  five text default 1 not null\n);',
    );
    assert.deepEqual([...contractions(before, after).keys()].toSorted(), [
      'a.f(x integer)',
      'a.gone',
      'a.kept.four',
      'a.kept.one',
      'a.kept.three',
      'a.kept.two',
    ]);
  });
});
