import fc from 'fast-check';
import type { Description, ApiOperation, Parameter, Schema } from './description.ts';

/** A request to send, which may contain text that no well-formed message has. */
export interface FuzzRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: no body. */
  readonly body: { readonly text: string } | { readonly bytes: Buffer } | undefined;
}

const NASTY_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202eabc',
  '🔑'.repeat(2500),
  '__proto__',
  'constructor',
  '..',
  '../../etc/passwd',
  '%2f%2e%2e',
  "' or 1=1--",
  'a\r\nSet-Cookie: x=1',
  '-1',
  '1e400',
  '99999999999999999999999999',
  'null',
  'NaN',
  '2026-02-30T25:61:61Z',
  '00000000-0000-0000-0000-000000000000',
] as const;

const nastyValue = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom<unknown>(...NASTY_TEXTS, null, true, 0, -1, 1.5, 1e308, 2 ** 53, [], {}, [[]], [null]),
    fc.jsonValue({ maxDepth: 3 }),
    fc.constant(deep(80)),
  );

const deep = (levels: number): unknown => Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 1);

const RAW_BODIES: readonly FuzzRequest['body'][] = [
  undefined,
  { text: '' },
  { text: 'null' },
  { text: '{' },
  { text: '{}x' },
  { text: '{"a":1e400}' },
  { text: '{"__proto__":{"x":1}}' },
  { text: '{"constructor":{"prototype":{"x":1}}}' },
  { text: '{"a":"\\u0000"}' },
  { text: '{"a":"\\ud800"}' },
  { text: '['.repeat(20_000) },
  { bytes: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
  { bytes: Buffer.from('\ufeff{}', 'utf8') },
];

/**
 * Requests of one operation: two fifths match its description, the others are broken in one place. `known` are existing ids,
 * with which requests get past the first lookup.
 */
export function requestsOf(
  operation: ApiOperation,
  description: Description,
  known: readonly string[],
): fc.Arbitrary<FuzzRequest> {
  const values = new Values(description, known);
  const named = (place: Parameter['in']): readonly Parameter[] =>
    operation.parameters.filter((one) => one.in === place);
  const path = fc.record(
    Object.fromEntries(named('path').map(({ name, schema }) => [name, values.text(schema)])),
  ) as fc.Arbitrary<Record<string, string>>;
  const query = queryOf(named('query'), values);
  const headers = headersOf(named('header'), values, operation.body !== null);
  if (operation.body === null) return fc.record({ path, query, headers, body: fc.constant(undefined) });
  const good = values.of(operation.body.schema);
  const body = fc.oneof(
    { weight: 2, arbitrary: good.map(textOf) },
    { weight: 2, arbitrary: broken(good).map(textOf) },
    { weight: 1, arbitrary: fc.constantFrom(...RAW_BODIES) },
  );
  return fc.record({ path, query, headers, body });
}

const textOf = (value: unknown): { text: string } => ({ text: JSON.stringify(value) ?? 'null' });

/** One field dropped, replaced or added, or the whole replaced. */
function broken(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const place = fc.nat(20);
  return fc
    .tuple(good, fc.constantFrom('drop', 'replace', 'add', 'whole'), place, nastyValue())
    .map(([value, how, at, nasty]) => {
      if (how === 'whole' || typeof value !== 'object' || value === null) return nasty;
      const entries = Object.entries(value);
      if (how === 'add') return { ...value, [typeof nasty === 'string' ? nasty : 'extra']: nasty };
      if (entries.length === 0) return nasty;
      const index = at % entries.length;
      const kept =
        how === 'drop' ? entries.toSpliced(index, 1) : entries.with(index, [entries[index]?.[0] ?? '', nasty]);
      return Object.fromEntries(kept);
    });
}

function queryOf(parameters: readonly Parameter[], values: Values): fc.Arbitrary<[string, string][]> {
  const each = parameters.map(({ name, schema, required }) =>
    fc.oneof(
      { weight: required ? 0 : 3, arbitrary: fc.constant([]) },
      { weight: 4, arbitrary: values.text(schema).map((text): [string, string][] => [[name, text]]) },
      // The same parameter twice.
      {
        weight: 1,
        arbitrary: values.text(schema).map((text): [string, string][] => [
          [name, text],
          [name, text],
        ]),
      },
    ),
  );
  const unknown = fc.constantFrom<[string, string][]>([], [], [], [['limit[]', '5']], [['__proto__', '1']]);
  return fc.tuple(...each, unknown).map((all) => (all as [string, string][][]).flat());
}

function headersOf(
  parameters: readonly Parameter[],
  values: Values,
  hasBody: boolean,
): fc.Arbitrary<Record<string, string>> {
  const each = Object.fromEntries(
    parameters.map(({ name, schema }) => [
      name.toLowerCase(),
      // A repeated idempotency key would test the stored reply instead of the operation.
      fc.oneof(fc.constant(''), values.of(schema).map(String)).filter((text) => /^[\x20-\x7e]*$/.test(text)),
    ]),
  );
  const types = fc.constantFrom('application/json', 'application/json', 'text/plain', 'a/b; charset=x');
  const all = fc.record<Record<string, string>>({ ...each, ...(hasBody ? { 'content-type': types } : {}) });
  return all.map((lines) => Object.fromEntries(Object.entries(lines).filter(([, text]) => text !== '')));
}

/** Values that a schema allows. */
class Values {
  readonly #description: Description;
  readonly #known: readonly string[];

  constructor(description: Description, known: readonly string[]) {
    this.#description = description;
    this.#known = known;
  }

  /** Values of a parameter, valid and invalid ones. */
  text(schema: Schema): fc.Arbitrary<string> {
    const fitting = this.of(schema).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
    return fc.oneof({ weight: 3, arbitrary: fitting }, { weight: 1, arbitrary: fc.constantFrom(...NASTY_TEXTS) });
  }

  of(given: Schema): fc.Arbitrary<unknown> {
    const schema = this.#description.follow(given);
    if ('const' in schema) return fc.constant(schema['const']);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
    for (const word of ['anyOf', 'oneOf'])
      if (Array.isArray(schema[word])) return fc.oneof(...(schema[word] as Schema[]).map((one) => this.of(one)));
    const types = [schema['type'] ?? 'any'].flat() as string[];
    return fc.oneof(...types.map((type) => this.#typed(type, schema)));
  }

  #typed(type: string, schema: Schema): fc.Arbitrary<unknown> {
    const { minimum = -1000, maximum = 1000 } = schema as { minimum?: number; maximum?: number };
    if (type === 'string') return this.#string(schema);
    if (type === 'integer') return fc.integer({ min: minimum, max: maximum });
    if (type === 'number') return fc.double({ min: minimum, max: maximum, noNaN: true });
    if (type === 'boolean') return fc.boolean();
    if (type === 'null') return fc.constant(null);
    if (type === 'array') {
      const { items = {}, minItems = 0 } = schema as { items?: Schema; minItems?: number };
      return fc.array(this.of(items), { minLength: minItems, maxLength: minItems + 3 });
    }
    if (type !== 'object') return fc.jsonValue({ maxDepth: 2 });
    const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] };
    const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, this.of(one)]));
    return fc.record(fields, { requiredKeys: required });
  }

  #string(schema: Schema): fc.Arbitrary<string> {
    const {
      pattern,
      format,
      minLength = 0,
      maxLength = 60,
    } = schema as {
      pattern?: string;
      format?: string;
      minLength?: number;
      maxLength?: number;
    };
    if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
    if (format === 'idn-email') return fc.emailAddress();
    if (format === 'uri') return fc.webUrl();
    const free = fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) });
    if (pattern === undefined) return this.#known.length === 0 ? free : fc.oneof(free, fc.constantFrom(...this.#known));
    const fits = new RegExp(pattern, 'u');
    const known = this.#known.filter((id) => fits.test(id) && id.length <= maxLength);
    const made = matching(pattern, free).filter((text) => text.length >= minLength && text.length <= maxLength);
    return known.length === 0 ? made : fc.oneof(made, fc.constantFrom(...known));
  }
}

/** Texts that match a pattern; fast-check cannot generate them for every pattern. */
function matching(pattern: string, otherwise: fc.Arbitrary<string>): fc.Arbitrary<string> {
  if (pattern === '\\S') return otherwise.map((text) => `${text}x`);
  try {
    return fc.stringMatching(new RegExp(pattern));
  } catch {
    return otherwise;
  }
}
