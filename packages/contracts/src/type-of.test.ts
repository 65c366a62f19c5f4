import assert from 'node:assert/strict';
import { contract, type BodyOf, type ParamsOf, type QueryOf, type ReplyOf } from './contract.ts';
import { okBody } from './parts.ts';
import { typed, type TypeOf } from './type-of.ts';

/** True only where both types are the same. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

const thing = {
  type: 'object',
  required: ['id', 'kind', 'size', 'note', 'tags'],
  properties: {
    id: { type: 'string' },
    kind: { type: 'string', enum: ['big', 'small'] },
    size: { type: 'integer' },
    note: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'boolean' } },
    owner: {
      anyOf: [{ type: 'object', required: ['name'], properties: { name: { const: 'Ann' } } }, { type: 'null' }],
    },
    more: { type: 'object' },
  },
} as const;

interface Thing {
  readonly id: string;
  readonly kind: 'big' | 'small';
  readonly size: number;
  readonly note: string | null;
  readonly tags: readonly boolean[];
  readonly owner?: { readonly name: 'Ann' } | null;
  readonly more?: { readonly [field: string]: unknown };
}

describe('the type of a schema', () => {
  it('is derived from its keywords', () => {
    const isSame: [
      Same<TypeOf<typeof thing>, Thing>,
      Same<TypeOf<{ readonly description: 'anything' }>, unknown>,
      Same<TypeOf<{ readonly type: 'array' }>, readonly unknown[]>,
    ] = [true, true, true];
    assert.ok(isSame);
  });

  it('requires every property where `required` lists the names of all', () => {
    const all = { ...thing, required: Object.keys(thing.properties) };
    const isRequired: undefined extends TypeOf<typeof all>['owner'] ? true : false = false;
    assert.equal(isRequired, false);
  });

  it('can be explicit where no keyword expresses it, without a change of the schema', () => {
    const schema = { type: 'string', description: 'A code.' };
    const code = typed<'a' | 'b'>(schema);
    const isSame: Same<TypeOf<typeof code>, 'a' | 'b'> = true;
    assert.ok(isSame);
    assert.equal(code, schema);
  });
});

describe('the types of an operation', () => {
  it('are derived from its schemas', () => {
    const operation = contract({
      id: 'test',
      method: 'POST',
      path: '/things/{id}',
      summary: 'Test',
      tag: 'Meta',
      scope: 'none',
      params: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      body: thing,
      bodyOptional: true,
      reply: { status: 200, schema: okBody({ thing }) },
      errors: [],
    });
    type Operation = typeof operation;
    const isSame: [
      Same<ParamsOf<Operation>, { readonly id: string }>,
      Same<QueryOf<Operation>, Record<string, never>>,
      Same<BodyOf<Operation>, Thing | undefined>,
      Same<ReplyOf<Operation>, { readonly ok: true; readonly thing: Thing }>,
    ] = [true, true, true, true];
    assert.ok(isSame);
  });
});
