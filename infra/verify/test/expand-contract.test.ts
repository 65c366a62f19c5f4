import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

interface Column {
  readonly type: string;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
}

interface Index {
  readonly table: string;
  readonly isUnique: boolean;
  /** Method, keys and condition, as PostgreSQL writes them. */
  readonly method: string;
  readonly keys: string;
  readonly where: string;
}

interface Schema {
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Column>>;
  /** With their arguments. */
  readonly functions: ReadonlySet<string>;
  /** Also those of primary keys and UNIQUE. */
  readonly indexes: ReadonlyMap<string, Index>;
  /** Of CHECK and references: the table, and the condition. */
  readonly constraints: ReadonlyMap<string, { readonly table: string; readonly rule: string }>;
  /** `select on sync.tasks to wts_graph` */
  readonly rights: ReadonlySet<string>;
}

/** Of a dump that `infra/verify/test/schema.ts` wrote. */
function parse(sql: string): Schema {
  const bodies = [...sql.matchAll(/^create table (\S+) \(\n(.*?)\n\)/gms)].map(
    ([, table = '', body = '']) => [table, body] as const,
  );
  const constraints = [
    ...bodies.flatMap(([table, body]) =>
      [...body.matchAll(/^ {2}constraint (\S+) (.*?),?$/gm)].map(([, name = '', rule = '']) => ({ table, name, rule })),
    ),
    ...[...sql.matchAll(/^alter table (\S+) add constraint (\S+) (.*);$/gm)].map(
      ([, table = '', name = '', rule = '']) => ({ table, name, rule }),
    ),
  ].map(({ table, name, rule }) => ({ name: `${table}.${name}`, table, rule }));
  const keyOf = (rule: string): string | undefined => /^(?:PRIMARY KEY|UNIQUE) \((.*)\)$/.exec(rule)?.[1];
  const indexes = [
    ...[...sql.matchAll(INDEX)].map(
      ([, unique, name = '', table = '', method = '', keys = '', where = '']): [string, Index] => [
        `${table.split('.')[0]}.${name}`,
        { table, isUnique: unique !== undefined, method, keys, where },
      ],
    ),
    ...constraints.flatMap(({ name, table, rule }): [string, Index][] => {
      const keys = keyOf(rule);
      return keys === undefined ? [] : [[name, { table, isUnique: true, method: 'btree', keys, where: '' }]];
    }),
  ];
  return {
    tables: new Map(bodies.map(([table, body]) => [table, columnsOf(body)])),
    functions: new Set([...sql.matchAll(/^CREATE OR REPLACE FUNCTION (\S+\([^)]*\))/gm)].map(([, name = '']) => name)),
    indexes: new Map(indexes),
    constraints: new Map(
      constraints.filter(({ rule }) => keyOf(rule) === undefined).map(({ name, ...constraint }) => [name, constraint]),
    ),
    rights: new Set(
      [...sql.matchAll(/^grant (\S+) on (.*) to (\S+);$/gm)].flatMap(([, right = '', objects = '', role = '']) =>
        objects.split(', ').map((object) => `${right} on ${object} to ${role}`),
      ),
    ),
  };
}

const INDEX = /^CREATE (UNIQUE )?INDEX (\S+) ON (?:ONLY )?(\S+) USING (\S+) \((.*?)\)(?: WHERE (.*))?;$/gm;

function columnsOf(body: string): Map<string, Column> {
  const columns = body
    .split('\n')
    .map((line) => /^ {2}(?!constraint )(\S+) (.*?)( default .*?)?( not null)?,?$/.exec(line))
    .filter((match) => match !== null)
    .map(([, name = '', type = '', standard, required]): [string, Column] => [
      name,
      { type, isRequired: required !== undefined, hasDefault: standard !== undefined },
    ]);
  return new Map(columns);
}

/** What the code of `before` uses and `after` does not have, by its name. */
function contractions(before: Schema, after: Schema): Map<string, string> {
  return new Map([
    ...[...before.functions]
      .filter((name) => !after.functions.has(name))
      .map((name): [string, string] => [name, 'the function is dropped']),
    ...contractedColumns(before, after),
    ...contractedIndexes(before, after),
    ...stricterConstraints(before, after),
    ...contractedRights(before, after),
  ]);
}

function contractedColumns(before: Schema, after: Schema): Map<string, string> {
  const found = new Map<string, string>();
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

/** An index serves what another one did when its keys begin with the same ones; `on conflict` needs a unique one with the same. */
function contractedIndexes(before: Schema, after: Schema): Map<string, string> {
  const found = new Map<string, string>();
  const isLike = (one: Index, other: Index): boolean =>
    one.table === other.table && one.method === other.method && one.where === other.where;
  for (const [name, index] of before.indexes) {
    const like = [...after.indexes.values()].filter((next) => isLike(next, index));
    if (!after.tables.has(index.table)) continue;
    if (
      !like.some(({ keys }) => keys === index.keys || (index.method === 'btree' && keys.startsWith(`${index.keys}, `)))
    )
      found.set(name, 'no index begins with its keys');
    else if (index.isUnique && !like.some(({ keys, isUnique }) => isUnique && keys === index.keys))
      found.set(name, 'its keys are no longer unique, as "on conflict" needs');
  }
  for (const [name, index] of after.indexes) {
    if (!index.isUnique || isOfNewColumns(index.keys, index.table, before, after)) continue;
    const wasUnique = [...before.indexes.values()].some(
      (one) => one.isUnique && isLike(one, index) && one.keys === index.keys,
    );
    if (!wasUnique) found.set(name, 'its keys have to be unique now');
  }
  return found;
}

/** A rule of a new table or with a new column is none for the version before, which does not write it. */
function isOfNewColumns(text: string, table: string, before: Schema, after: Schema): boolean {
  const known = before.tables.get(table);
  if (known === undefined) return true;
  const columns = [...(after.tables.get(table)?.keys() ?? [])];
  return columns.some((name) => !known.has(name) && new RegExp(`\\b${name}\\b`).test(text));
}

/** The values that a CHECK allows, and its other text. */
function allowedValues(rule: string): { readonly values: readonly string[]; readonly rest: string } {
  const values = [...rule.matchAll(/'[^']*'::text/g)].map(([value]) => value);
  return { values, rest: rule.replaceAll(/ARRAY\[[^\]]*\]/g, 'ARRAY[]') };
}

function stricterConstraints(before: Schema, after: Schema): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, { table, rule }] of after.constraints) {
    const was = before.constraints.get(name)?.rule;
    if (was === rule) continue;
    if (was === undefined) {
      if (!isOfNewColumns(rule, table, before, after)) found.set(name, 'rows have to keep a new rule');
      continue;
    }
    const [old, now] = [allowedValues(was), allowedValues(rule)];
    if (old.rest !== now.rest || !old.values.every((value) => now.values.includes(value)))
      found.set(name, 'its rule is another one');
  }
  for (const [name, { table, rule }] of before.constraints)
    if (rule.startsWith('FOREIGN KEY') && after.tables.has(table) && !after.constraints.has(name))
      found.set(name, 'the reference is dropped, with what it deletes');
  return found;
}

function contractedRights(before: Schema, after: Schema): Map<string, string> {
  const found = new Map<string, string>();
  const onAll = (right: string): string => right.replace(/ on (\w+)\.\S+ to /, ' on all tables in schema $1 to ');
  for (const right of before.rights) {
    const table = / on (\w+\.\S+) to /.exec(right)?.[1];
    if (table !== undefined && !after.tables.has(table)) continue;
    if (!after.rights.has(right) && !after.rights.has(onAll(right))) found.set(right, 'the right is taken away');
  }
  return found;
}

/** In a migration, or in roles.sql: `// Contracts auth.a, auth.b: why nothing that still runs needs them`. */
function announced(): Set<string> {
  const files = [...globSync('services/*/src/migrations/*.ts', { cwd: ROOT }), 'infra/postgres/roles.sql'];
  const names = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^(?:\/\/|--) Contracts (.+?): /gm)].flatMap(([, list = '']) =>
      list.split(/, (?![^(]*\))/),
    ),
  );
  return new Set(names);
}

describe('an upgrade without a stop', () => {
  const textOf = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
  const read = (name: string): Schema => parse(textOf(`infra/postgres/${name}`));

  it('is from the schema of the last release in the changelog', () => {
    const [, version] = /^## (\d\S+)$/m.exec(textOf('CHANGELOG.md')) ?? [];
    assert.ok(
      textOf('infra/postgres/released.sql').startsWith(`-- Last release: ${version}. `),
      'a release copies schema.sql over released.sql; see infra/postgres/README.md',
    );
  });

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

  it('is broken by each kind of contraction', () =>
    assert.deepEqual([...contractions(parse(BEFORE), parse(AFTER)).keys()].toSorted(), [
      'a.f(x integer)',
      'a.gone',
      'a.kept.four',
      'a.kept.kept_kind_check',
      'a.kept.kept_two_check',
      'a.kept.kept_two_key',
      'a.kept.one',
      'a.kept.three',
      'a.kept.two',
      'a.kept_one_key',
      'a.kept_three_idx',
      'select on a.kept to other',
    ]));

  it('is not broken by what only expands', () =>
    assert.deepEqual([...contractions(parse(EXPANDED_BEFORE), parse(EXPANDED))], []));
});

const BEFORE = `create table a.kept (
  one text not null,
  two text,
  three text,
  constraint kept_kind_check CHECK ((one = ANY (ARRAY['x'::text, 'y'::text])))
);
CREATE UNIQUE INDEX kept_one_key ON a.kept USING btree (one);
CREATE INDEX kept_three_idx ON a.kept USING btree (two) WHERE (two IS NOT NULL);
create table a.gone (
  one text
);
CREATE OR REPLACE FUNCTION a.f(x integer)
grant select on all tables in schema b to other;
grant select on a.kept, a.gone to other;`;
const AFTER = `create table a.kept (
  one uuid not null,
  two text not null,
  four text not null,
  five text default 1 not null,
  constraint kept_kind_check CHECK ((one = ANY (ARRAY['x'::text, 'z'::text]))),
  constraint kept_two_check CHECK ((length(two) > 1)),
  constraint kept_two_key UNIQUE (two)
);
CREATE INDEX kept_one_key ON a.kept USING btree (one, two);
CREATE INDEX kept_three_idx ON a.kept USING btree (two);
grant select on all tables in schema b to other;`;
const EXPANDED_BEFORE = `create table a.kept (
  one text not null,
  constraint kept_kind_check CHECK ((one = ANY (ARRAY['x'::text, 'y'::text])))
);
CREATE INDEX kept_one_idx ON a.kept USING btree (one);
grant select on a.kept to other;`;
const EXPANDED = `create table a.kept (
  one text not null,
  two text,
  constraint kept_kind_check CHECK ((one = ANY (ARRAY['x'::text, 'y'::text, 'z'::text]))),
  constraint kept_two_check CHECK ((length(two) > 1))
);
CREATE UNIQUE INDEX kept_two_key ON a.kept USING btree (two);
CREATE INDEX kept_longer_idx ON a.kept USING btree (one, two);
create table a.added (
  one text not null,
  constraint added_pkey PRIMARY KEY (one)
);
grant select on all tables in schema a to other;`;
