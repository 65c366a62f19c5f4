import { date, timestamp, type Field } from '@wts/models';
import { GraphQLScalarType } from 'graphql';
import { graphError } from '../errors.ts';
import { described } from './names.ts';

/** Values of records are stored as they are sent, so an output is not checked again. Inputs are read as those of mutations are. */
function scalarOf(name: string, field: Field): GraphQLScalarType {
  return new GraphQLScalarType({
    name,
    coerceOutputValue: (value) => value,
    coerceInputValue: (given) => {
      const reading = field.read(given);
      if (!reading.ok) throw graphError('BAD_USER_INPUT', `A ${name} ${reading.reason}.`);
      return reading.value;
    },
  });
}

export const SCALAR_RESOLVERS = {
  DateTime: scalarOf('DateTime', timestamp({ doc: 'A time.' })),
  Date: scalarOf('Date', date({ doc: 'A day.' })),
  JSON: new GraphQLScalarType({ name: 'JSON', coerceOutputValue: (value) => value }),
};

export const SCALAR_TYPE_DEFS = `
${described('A time: ISO 8601 in UTC with milliseconds, such as `2026-11-21T09:00:00.000Z`. Inputs may have another offset, or be epoch milliseconds.')}
scalar DateTime
${described('A day: `YYYY-MM-DD`, such as `2026-11-21`. Inputs may be a time or epoch milliseconds, of which the UTC day counts.')}
scalar Date
${described('Any JSON value.')}
scalar JSON
`;
