import { isNumerous, MODELS, type Model } from '@wts/models';
import { fieldsOf, isLong } from '../../domain/fields.ts';
import { GRAPH_LIMITS } from '../../limits.ts';
import { described, typeNameOf } from './names.ts';

/** The fields by which records may be ordered: every one with a single short value that is no id. */
export function orderFieldsOf(model: Model): readonly string[] {
  return fieldsOf(model)
    .filter(([, field]) => field.sqlType !== 'uuid' && field.sqlType !== 'uuid[]' && !isLong(field))
    .map(([name]) => name);
}

/** Which pages of a list of any length are read in the order of an index, and what happens to others. */
function boundOf({ orders }: Model): string {
  const others = orders.map(
    (name) => `, nor by ${name} alone where the filter leaves only records that have it (\`{${name}: {null: false}}\`)`,
  );
  return `Orders that are not by createdAt alone${others.join('')}, are refused when more than ${GRAPH_LIMITS.sortedRecordsMax} match.`;
}

export const ORDER_TYPE_DEFS: string = [
  `${described('A direction. Records without a value are last in both.')}
enum OrderDirection {
  ${described('The least, the earliest, or A first.')}
  ASC
  ${described('The greatest or the latest first.')}
  DESC
}`,
  ...MODELS.map((model) => {
    const fields = orderFieldsOf(model).map((name) => {
      const field = fieldsOf(model).find(([one]) => one === name)?.[1];
      const type = field === undefined ? '' : typeNameOf(model, name, field);
      const how = type === 'String' ? 'By the characters of this text, capitals first' : 'By this value';
      return `  ${described(`${how}: ${field?.doc ?? ''}`)}\n  ${name}: OrderDirection`;
    });
    const bound = isNumerous(model) ? ` ${boundOf(model)}` : '';
    return `${described(`One key of an order of ${model.plural}. Example: \`orderBy: {createdAt: DESC}\`.${bound}`)}
input ${model.name}Order @oneOf {
${fields.join('\n')}
}`;
  }),
].join('\n\n');
