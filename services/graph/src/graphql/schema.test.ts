import { MODELS } from '@wts/models';
import {
  buildSchema,
  getNamedType,
  graphqlSync,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  parse,
  validate,
} from 'graphql';
import assert from 'node:assert/strict';
import { SCHEMA, SDL } from './schema.ts';
import { SCALAR_RESOLVERS } from './types/scalars.ts';

const types = Object.values(SCHEMA.getTypeMap()).filter((type) => !isIntrospectionType(type));
const ofScalars = new Set(['String', 'Int', 'Float', 'Boolean', 'ID']);

interface Described {
  readonly description?: string | null | undefined;
}

/** Everything of the schema that has a description, by its name. */
function definitions(): [name: string, definition: Described][] {
  return types
    .filter(({ name }) => !ofScalars.has(name))
    .flatMap((type): [string, Described][] => {
      const values = isEnumType(type) ? type.getValues() : [];
      const outputs = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
      const inputs = isInputObjectType(type) ? Object.values(type.getFields()) : [];
      return [
        [type.name, type],
        ...[...values, ...outputs, ...inputs].map((one): [string, Described] => [`${type.name}.${one.name}`, one]),
        ...outputs.flatMap((field) =>
          field.args.map((argument): [string, Described] => [`${type.name}.${field.name}(${argument.name})`, argument]),
        ),
      ];
    });
}

describe('the schema', () => {
  it('describes every type, field, argument and value', () => {
    const bare = definitions().filter(([, { description }]) => (description ?? '').trim().length < 3);
    assert.deepEqual(
      bare.map(([name]) => name),
      [],
    );
  });

  it('has every model of the registry with every field, and nothing of them is nullable that is not [graphql.schema.derived]', () => {
    for (const model of MODELS) {
      const type = SCHEMA.getType(model.name);
      assert.ok(isObjectType(type), model.name);
      const fields = type.getFields();
      for (const [name, field] of Object.entries(model.fields)) {
        assert.equal(fields[name]?.description, field.doc, `${model.name}.${name}`);
        assert.equal(String(fields[name]?.type).endsWith('!'), !field.nullable, `${model.name}.${name}`);
      }
      for (const suffix of ['Connection', 'Edge', 'Filter', 'Order'])
        assert.ok(SCHEMA.getType(`${model.name}${suffix}`), `${model.name}${suffix}`);
      assert.ok(SCHEMA.getQueryType()?.getFields()[model.plural], model.plural);
    }
  });

  it('has no type that nothing uses', () => {
    const used = new Set(['Query', 'Mutation', ...ofScalars]);
    for (const type of types) {
      if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
      const fields = isInputObjectType(type) ? [] : Object.values(type.getFields());
      const inputs = isInputObjectType(type) ? Object.values(type.getFields()) : fields.flatMap(({ args }) => args);
      for (const one of [...fields, ...inputs]) used.add(getNamedType(one.type).name);
    }
    const unused = types.filter(({ name }) => !used.has(name));
    assert.deepEqual(unused.map(String), []);
  });

  it('is the same after reading its document, with the reasons of what is deprecated [graphql.schema.sdl]', () => {
    const read = buildSchema(SDL);
    assert.deepEqual(Object.keys(read.getTypeMap()).toSorted(), Object.keys(SCHEMA.getTypeMap()).toSorted());
    const reasons = SDL.match(/@deprecated\(reason: ".{20,}"\)/g) ?? [];
    assert.ok(reasons.length >= 3, String(reasons.length));
    assert.equal(reasons.length, SDL.match(/@deprecated/g)?.length);
  });

  it('hides what is deprecated from introspection, unless it is requested [graphql.schema.introspection]', () => {
    const fieldsOf = (given: string): string[] => {
      const { data } = graphqlSync({ schema: SCHEMA, source: `{ __type(name: "Task") { fields${given} { name } } }` });
      return (data as unknown as { __type: { fields: { name: string }[] } }).__type.fields.map(({ name }) => name);
    };
    assert.ok(!fieldsOf('').includes('headingId') && fieldsOf('').includes('number'));
    assert.ok(fieldsOf('(includeDeprecated: true)').includes('headingId'));
  });

  // Part B, section 9 of the notes about existing clients.
  const QUERIES = [
    'query ($first: Int, $after: String, $search: String, $id: ID!) { tasks(first: $first, after: $after, search: $search, filter: {workspaceId: {eq: $id}}) { nodes { id title description createdAt updatedAt completedAt archivedAt start startDate startBucket todayIndexReferenceDate deadlineAt creatorId workspaceId projectId teamId assigneeId headingId repeatRule repeatTemplateId key number } pageInfo { hasNextPage endCursor } } }',
    'query ($ids: [ID!]!) { projects(filter: {workspaceId: {in: $ids}}) { nodes { id key name description status sortOrder targetDate completedAt archivedAt createdAt updatedAt workspaceId creatorId } pageInfo { hasNextPage endCursor } } }',
    'query ($id: ID!) { taskChecklistItems(first: 100, filter: {taskId: {eq: $id}}, orderBy: {sortOrder: ASC}) { nodes { id title sortOrder completedAt createdAt updatedAt taskId workspaceId } pageInfo { hasNextPage endCursor } } }',
    'query ($id: ID!) { task(id: $id) { id } project(id: $id) { id } label(id: $id) { id } workspace(id: $id) { id } user(id: $id) { id } }',
    '{ viewer { id email name username } myWorkspaces { id name urlKey logoUrl role } workspaces { nodes { id } } users { nodes { id } } labels { nodes { id } } }',
    'query ($id: ID!, $key: String!) { teamByKey(workspaceId: $id, key: $key) { id key name description workspaceId createdAt updatedAt archivedAt } workspaceByUrlKey(urlKey: $key) { id } }',
  ];

  for (const query of QUERIES)
    it(`admits what existing clients send: ${query.slice(0, 60)}`, () =>
      assert.deepEqual(validate(SCHEMA, parse(query)), []));
});

describe('a time and a day', () => {
  it('are read in every spelling that changes may have, and refused with the reason', () => {
    const { DateTime, Date: Day } = SCALAR_RESOLVERS;
    assert.equal(DateTime.coerceInputValue(1_795_222_326_625), '2026-11-21T00:52:06.625Z');
    assert.equal(DateTime.coerceInputValue('2026-11-21T10:00:00+01:00'), '2026-11-21T09:00:00.000Z');
    assert.equal(Day.coerceInputValue('2026-11-21T10:00:00Z'), '2026-11-21');
    for (const given of ['soon', '2026-02-30', {}, true]) {
      assert.throws(() => DateTime.coerceInputValue(given), /A DateTime must be a timestamp/);
      assert.throws(() => Day.coerceInputValue(given), /A Date must be a day/);
    }
  });

  it('are refused in a document with their place and the value, because it may have several', () => {
    const document = `{ projects(filter: {
      startDate: {gte: "2026-01-01", lte: "2026-02-30"}
      createdAt: {gt: "soon"}
    }) { totalCount } }`;
    assert.deepEqual(
      validate(SCHEMA, parse(document)).map(({ message, locations }) => [message.replace(/^.*error /, ''), locations]),
      [
        [
          '"A DateTime must be a timestamp such as 2026-11-21T09:00:00.000Z."; found: "soon".',
          [{ line: 3, column: 23 }],
        ],
        ['"A Date must be a day such as 2026-11-21."; found: "2026-02-30".', [{ line: 2, column: 43 }]],
      ],
    );
  });
});
