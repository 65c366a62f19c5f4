import { date, timestamp, type Field } from '@wts/models';
import { GraphQLScalarType } from 'graphql';
import { described } from '../sdl.ts';

const DOCS = {
  DateTime:
    'A time: ISO 8601 in UTC with milliseconds, such as `2026-11-21T09:00:00.000Z`. Inputs may have another offset, or be epoch milliseconds (no earlier than the year 2000).',
  Date: 'A day: `YYYY-MM-DD`, such as `2026-11-21`. Inputs may be a time or epoch milliseconds (no earlier than the year 2000), of which the UTC day counts.',
  JSON: 'Any JSON value.',
} as const;

/** Values of records are stored as they are sent, so an output is not checked again. Inputs are read as those of mutations are. */
function scalarOf(name: keyof typeof DOCS, field: Field): GraphQLScalarType {
  return new GraphQLScalarType({
    name,
    description: DOCS[name],
    coerceOutputValue: (value) => value,
    coerceInputValue: (given) => {
      const reading = field.read(given);
      // graphql-js adds the place and the value to this error, but shows one of its own class as it is.
      if (!reading.ok) throw new TypeError(`A ${name} ${reading.reason}.`);
      return reading.value;
    },
  });
}

export const SCALAR_RESOLVERS = {
  DateTime: scalarOf('DateTime', timestamp({ doc: 'A time.' })),
  Date: scalarOf('Date', date({ doc: 'A day.' })),
  JSON: new GraphQLScalarType({ name: 'JSON', description: DOCS.JSON, coerceOutputValue: (value) => value }),
};

export const SCALAR_TYPE_DEFS: string = Object.entries(DOCS)
  .map(([name, doc]) => `${described(doc)}\nscalar ${name}`)
  .join('\n');
