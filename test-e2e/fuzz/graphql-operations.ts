import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { randomUUID } from 'node:crypto';
import type { StrangersRecords } from './existing-ids.ts';

export interface OperationsOptions {
  /** Ids and keys that the caller sees, with which operations get past the first look-up. */
  readonly known: readonly string[];
  /**
   * Ids and texts of others. No mutation writes the texts, or makes a record of another model with one of the ids, because answers to
   * the caller would then have them.
   */
  readonly strange: StrangersRecords;
}

/** An operation to send. */
export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const NASTY: readonly unknown[] = [
  null,
  '',
  ' ',
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  true,
  [],
  {},
  [null],
  [[['x']]],
  { __proto__: 1 },
  '__proto__',
  'constructor',
  "' or 1=1--",
  '%',
  '_%\\',
  '\u202eabc',
  '🔑'.repeat(600),
  'x'.repeat(3000),
  '2026-02-30T25:61:61Z',
  '00000000-0000-0000-0000-000000000000',
  '00000000-0000-0000-0000-00000000000g',
  'eyJ2IjoxfQ',
  'e30=',
  'bnVsbA',
];

const NASTY_TEXTS = NASTY.filter((value) => typeof value === 'string');

/** Pieces that break a document, or are unusual in one. */
const PIECES = [
  '{',
  '}',
  '(',
  ')',
  '...',
  '@skip(if: true)',
  '"',
  '"""',
  '#',
  ':',
  '$x',
  '!',
  '\\u0041',
  '__typename',
  '\ufeff',
  ',',
  '&',
  'on',
];

const DEPTH_MAX = 4;

/** Arguments that contradict each other, or whose values only the server makes. */
const PAGING: ReadonlySet<string> = new Set(['last', 'before', 'after', 'minSyncId']);

/** Makes operations from a schema. The same seed makes the same ones. */
export class Operations {
  readonly #schema: GraphQLSchema;
  readonly #options: OperationsOptions;
  #isMutation = false;
  /** An operation whose values have the types of the schema, so that most of it is executed. */
  #isPlain = true;
  #state: number;
  #variables: Record<string, unknown> = {};
  #declared: string[] = [];

  constructor(schema: GraphQLSchema, seed: number, options: OperationsOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#state = seed;
  }

  next(): Operation {
    this.#variables = {};
    this.#declared = [];
    const isMutation = this.#chance(0.35);
    this.#isMutation = isMutation;
    this.#isPlain = this.#chance(0.7);
    const root = isMutation ? this.#schema.getMutationType() : this.#schema.getQueryType();
    if (!root) throw new Error('The schema has no root');
    const fields = Array.from(
      { length: 1 + this.#below(3) },
      (_, at) => `a${at}: ${this.#field(this.#one(fieldsOf(root)), 0)}`,
    );
    const declared = this.#declared.length === 0 ? '' : `(${this.#declared.join(', ')})`;
    const query = `${isMutation ? 'mutation' : 'query'} Fuzz${declared} { ${fields.join(' ')} }`;
    const operation = {
      query: !this.#isPlain && this.#chance(0.3) ? this.#broken(query) : query,
      variables: this.#variables,
    };
    return operation;
  }

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const given = field.args.flatMap((arg) => {
      if (!isNonNullType(arg.type) && this.#chance(this.#isPlain && PAGING.has(arg.name) ? 1 : 0.6)) return [];
      return [`${arg.name}: ${this.#passed(arg.type)}`];
    });
    const args = given.length === 0 ? '' : `(${given.join(', ')})`;
    return `${field.name}${args} ${this.#selection(getNamedType(field.type), depth + 1)}`;
  }

  #selection(type: GraphQLNamedType, depth: number): string {
    if (isLeafType(type)) return '';
    if (isAbstractType(type)) {
      const one = this.#one(this.#schema.getPossibleTypes(type));
      return `{ __typename ... on ${one.name} ${this.#selection(one, depth)} }`;
    }
    if (!isObjectType(type)) return '{ __typename }';
    const all = fieldsOf(type);
    const leaves = all.filter((field) => isLeafType(getNamedType(field.type)));
    const inner = depth >= DEPTH_MAX ? [] : all.filter((field) => !isLeafType(getNamedType(field.type)));
    const chosen = [
      ...leaves.filter(() => this.#chance(0.4)).map(({ name }) => name),
      ...inner
        .filter(() => this.#chance(inner.length > 6 ? 0.2 : 0.6))
        .map((field, at) => `i${at}: ${this.#field(field, depth)}`),
    ];
    return `{ __typename ${chosen.join(' ')} }`;
  }

  /** A value as a variable or as a literal. */
  #passed(type: GraphQLInputType): string {
    const value = this.#value(type, 0);
    if (this.#chance(0.3)) return literalOf(type, value);
    const name = `v${this.#declared.length}`;
    this.#declared.push(`$${name}: ${String(type)}`);
    this.#variables[name] = value;
    return `$${name}`;
  }

  #value(type: GraphQLInputType, depth: number): unknown {
    if (!this.#isPlain && this.#chance(0.06)) return this.#one(NASTY);
    const bare = getNullableType(type);
    if (!this.#isPlain && bare === type && this.#chance(0.05)) return null;
    if (isListType(bare)) return Array.from({ length: 1 + this.#below(3) }, () => this.#value(bare.ofType, depth + 1));
    if (isEnumType(bare)) return this.#one(bare.getValues()).name;
    if (isInputObjectType(bare)) {
      const fields = Object.values(bare.getFields());
      // One key of an order, and few conditions of a filter, because most of several contradict each other.
      const share = depth > 3 ? 0.05 : 3 / fields.length;
      const given = bare.isOneOf
        ? [this.#one(fields)]
        : fields.filter((field) => isNonNullType(field.type) || this.#chance(share));
      const model = /^(\w+)CreateInput$/.exec(bare.name)?.[1];
      return Object.fromEntries(
        given.map(({ name, type: inner }) => [
          name,
          name === 'id' && model !== undefined ? this.#newId(model) : this.#value(inner, depth + 1),
        ]),
      );
    }
    switch (bare.name) {
      case 'ID':
        return this.#chance(0.8) ? this.#one([...this.#options.known, ...this.#options.strange.ids]) : randomUUID();
      case 'Int':
        return this.#one(this.#isPlain ? [1, 2, 3, 4] : [-1, 0, 5, 50, 100, 101]);
      case 'Boolean':
        return this.#chance(0.5);
      case 'Date':
        return this.#one(['2026-11-22', Date.UTC(2026, 10, 22), '2026-11-22T10:00:00Z']);
      case 'DateTime':
        return this.#one(['2026-11-22T10:00:00.000Z', Date.UTC(2026, 10, 22), '2026-11-22T10:00:00+02:00']);
      default:
        return this.#chance(0.2) ? this.#one(NASTY_TEXTS) : this.#one(this.#texts);
    }
  }

  /** The id of a record to make: a new one, or one that the model has already. */
  #newId(modelName: string): string {
    const taken = this.#options.strange.records.filter((record) => record.modelName === modelName);
    return this.#one([randomUUID(), ...this.#options.known, ...taken.map(({ id }) => id)]);
  }

  get #texts(): readonly string[] {
    const { known, strange } = this.#options;
    return ['a', 'report', 'K1', 'FREQ=DAILY', '#ff0000', ...known, ...(this.#isMutation ? [] : strange.texts)];
  }

  #broken(query: string): string {
    const at = this.#below(query.length);
    switch (this.#below(3)) {
      case 0:
        return query.slice(0, at);
      case 1:
        return `${query.slice(0, at)}${this.#one(PIECES)}${query.slice(at)}`;
      default:
        return `${query.slice(0, at)}${query.slice(at + 1 + this.#below(5))}`;
    }
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #chance(share: number): boolean {
    return this.#below(10_000) < share * 10_000;
  }

  /** Mulberry32. */
  #below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }
}

function fieldsOf(type: GraphQLObjectType): readonly GraphQLField<unknown, unknown>[] {
  return Object.values(type.getFields());
}

/** A value in a document: names of enums and fields have no quotes. */
function literalOf(type: GraphQLInputType, value: unknown): string {
  const bare = getNullableType(type);
  if (Array.isArray(value)) {
    const inner = isListType(bare) ? bare.ofType : type;
    return `[${value.map((item) => literalOf(inner, item)).join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const fields = isInputObjectType(bare) ? bare.getFields() : {};
    const entries = Object.entries(value).map(
      ([name, item]) => `${name}: ${literalOf(fields[name]?.type ?? type, item)}`,
    );
    return `{${entries.join(', ')}}`;
  }
  if (typeof value === 'string' && isEnumType(getNamedType(type))) return value === '' ? '""' : value;
  return JSON.stringify(value);
}
