/** A value of the chart: from these, values.yaml, its schema and its reference are generated. */
export type Value = Leaf | Group;

export interface Leaf {
  readonly doc: string;
  readonly schema: Schema;
  readonly default: unknown;
}

export interface Group {
  readonly doc: string;
  readonly values: Values;
}

export type Values = Readonly<Record<string, Value>>;

/** JSON Schema, draft 7: what every version of Helm 3 and 4 knows. */
export type Schema = Readonly<Record<string, unknown>>;

export function isGroup(value: Value): value is Group {
  return 'values' in value;
}

export function group(doc: string, values: Values): Group {
  return { doc, values };
}

export function text(doc: string, standard = '', pattern?: string): Leaf {
  return { doc, default: standard, schema: { type: 'string', ...(pattern === undefined ? {} : { pattern }) } };
}

export function oneOf(doc: string, words: readonly string[], standard = words[0]): Leaf {
  return { doc, default: standard, schema: { enum: words } };
}

export function flag(doc: string, standard: boolean): Leaf {
  return { doc, default: standard, schema: { type: 'boolean' } };
}

export function count(doc: string, standard: number, minimum = 0): Leaf {
  return { doc, default: standard, schema: { type: 'integer', minimum } };
}

export function countOrPercent(doc: string, standard: number | string): Leaf {
  return { doc, default: standard, schema: { type: ['integer', 'string'], pattern: '^[0-9]+%$', minimum: 0 } };
}

/** A part of an object of Kubernetes, which the API server checks. */
export function object(doc: string, standard: object = {}): Leaf {
  return { doc, default: standard, schema: { type: 'object' } };
}

export function texts(doc: string, standard: readonly string[] = []): Leaf {
  return { doc, default: standard, schema: { type: 'array', items: { type: 'string' } } };
}

export function textMap(doc: string, standard: Readonly<Record<string, string>> = {}): Leaf {
  return { doc, default: standard, schema: { type: 'object', additionalProperties: { type: 'string' } } };
}

/** Parts of objects of Kubernetes, as `object`. */
export function objects(doc: string, standard: readonly object[] = []): Leaf {
  return { doc, default: standard, schema: { type: 'array', items: { type: 'object' } } };
}

/** Objects of the chart itself, with the fields that are required, and no others. */
export function records(doc: string, fields: Readonly<Record<string, Schema>>): Leaf {
  const items = { type: 'object', additionalProperties: false, required: Object.keys(fields), properties: fields };
  return { doc, default: [], schema: { type: 'array', items } };
}
