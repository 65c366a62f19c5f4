import { isNumerous, MODELS, type Model } from '@wts/models';
import { fieldsOf, isLong, type ServedFields } from '../../domain/fields.ts';
import { GRAPH_LIMITS } from '../../limits.ts';
import { block, entriesOf } from '../sdl.ts';
import { typeNameOf } from './names.ts';

/** The fields by which records may be ordered: every one with a single short value that is no id. */
export function orderFieldsOf(model: Model): ServedFields {
  return fieldsOf(model).filter(
    ([, field]) => field.sqlType !== 'uuid' && field.sqlType !== 'uuid[]' && !isLong(field),
  );
}

/** Which pages of a list of any length are read in the order of an index, and what happens to others. */
function boundOf({ orders }: Model): string {
  const others = orders.map(
    (name) => `, nor by ${name} alone where the filter leaves only records that have it (\`{${name}: {null: false}}\`)`,
  );
  return `Orders that are not by createdAt alone${others.join('')}, are refused when more than ${GRAPH_LIMITS.sortedRecordsMax} match.`;
}

export const ORDER_TYPE_DEFS: string = [
  block('A direction. Records without a value are last in both.', 'enum OrderDirection', {
    ASC: 'The least, the earliest, or A first.',
    DESC: 'The greatest or the latest first.',
  }),
  ...MODELS.map((model) => {
    const fields = entriesOf(orderFieldsOf(model), ([name, field]) => {
      const isText = typeNameOf(model, name, field) === 'String';
      const how = isText ? 'By the characters of this text, capitals first' : 'By this value';
      return [`${name}: OrderDirection`, `${how}: ${field.doc}`];
    });
    const bound = isNumerous(model) ? ` ${boundOf(model)}` : '';
    const doc = `One key of an order of ${model.plural}. Example: \`orderBy: {createdAt: DESC}\`.${bound}`;
    return block(doc, `input ${model.name}Order @oneOf`, fields);
  }),
].join('\n\n');
