/** TypeScript for schemas, as text. */

export type Schema = Readonly<Record<string, unknown>>;

/** The type of the values of a schema. */
export function typeOf(schema: Schema): string {
  if (Array.isArray(schema['anyOf'])) return [...new Set((schema['anyOf'] as Schema[]).map(typeOf))].join(' | ');
  if (Array.isArray(schema['enum'])) return union(schema['enum'] as (string | null)[]);
  if ('const' in schema) return JSON.stringify(schema['const']);
  const types = [schema['type']].flat() as string[];
  return types.map((type) => ofName(schema, type)).join(' | ');
}

function ofName(schema: Schema, type: string): string {
  if (type === 'array') {
    const item = typeOf(schema['items'] as Schema);
    return `readonly ${item.includes(' | ') && !item.startsWith('{') ? `(${item})` : item}[]`;
  }
  if (type === 'object') return objectOf(schema);
  if (type === 'integer') return 'number';
  if (['string', 'boolean', 'null', 'number'].includes(type)) return type;
  throw new Error(`No type is known for the schema ${JSON.stringify(schema)}`);
}

function objectOf({ properties, required = [] }: Schema): string {
  const fields = Object.entries((properties ?? {}) as Readonly<Record<string, Schema>>);
  if (fields.length === 0) return '{ readonly [field: string]: unknown }';
  const needed = new Set(required as string[]);
  const lines = fields.map(([name, schema]) => {
    const doc = schema['description'] === undefined ? '' : `/** ${schema['description'] as string} */ `;
    return `${doc}readonly ${name}${needed.has(name) ? '' : '?'}: ${typeOf(schema)};`;
  });
  return `{ ${lines.join(' ')} }`;
}

export const union = (values: readonly (string | null)[]): string =>
  values.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ') || 'never';
export const members = (values: readonly string[]): string => values.map((value) => `  | '${value}'`).join('\n');
