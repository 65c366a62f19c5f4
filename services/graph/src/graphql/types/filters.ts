import { LIMITS } from '@wts/contracts';
import { inversesOf, MODELS, relationsOf, type Model } from '@wts/models';
import { fieldsOf, type ServedField } from '../../domain/fields.ts';
import { block, entriesOf } from '../sdl.ts';
import { ENUMS, typeNameOf } from './names.ts';

/** What each comparator does, with an example where it is not plain. */
const OPERATORS = {
  eq: 'Equal to this; null: has no value.',
  neq: 'Different from this; records without a value are different too.',
  in: `One of these, at most ${LIMITS.graphFilterListMax}.`,
  nin: `None of these, at most ${LIMITS.graphFilterListMax}.`,
  lt: 'Less, or earlier.',
  lte: 'Less or equal.',
  gt: 'Greater, or later.',
  gte: 'Greater or equal. Example: `{gte: "2026-11-01", lt: "2026-12-01"}` is a month.',
  contains: 'Contains this text, with the same capitals.',
  startsWith: 'Begins with this text, with the same capitals. Example: `{startsWith: "Fix"}`.',
  eqIgnoreCase: 'Equal to this text, whatever the capitals.',
  null: 'True: has no value. False: has a value.',
} as const;

export type Operator = keyof typeof OPERATORS;

const EQUALITY = ['eq', 'neq', 'in', 'nin', 'null'] as const;
const ORDERED = ['eq', 'neq', 'in', 'nin', 'lt', 'lte', 'gt', 'gte', 'null'] as const;
const TEXT = ['eq', 'neq', 'in', 'nin', 'contains', 'startsWith', 'eqIgnoreCase', 'null'] as const;

const COMPARATORS: readonly (readonly [type: string, doc: string, operators: readonly Operator[]])[] = [
  ['ID', 'Compares ids. Example: `{workspaceId: {eq: "…"}}`.', EQUALITY],
  ['String', 'Compares texts. Example: `{title: {contains: "index"}}`.', TEXT],
  ['Int', 'Compares numbers. Example: `{priority: {in: [1, 2]}}`.', ORDERED],
  ['Boolean', 'Compares flags. Example: `{isPrivate: {eq: true}}`.', ['eq', 'neq', 'null']],
  ['Date', 'Compares days. Example: `{deadlineAt: {lte: "2026-11-30"}}`.', ORDERED],
  ['DateTime', 'Compares times. Example: `{createdAt: {gte: "2026-11-21T09:00:00Z"}}`.', ORDERED],
  ...ENUMS.map(({ name, doc, values }): [string, string, readonly Operator[]] => [
    name,
    `Compares ${doc} Example: \`{in: [${values.slice(0, 2).join(', ')}]}\`.`,
    EQUALITY,
  ]),
];

export const FILTER_TYPE_DEFS: string = [
  ...COMPARATORS.map(([type, doc, operators]) => {
    const entries = entriesOf(operators, (operator) => {
      const of = operator === 'null' ? 'Boolean' : operator === 'in' || operator === 'nin' ? `[${type}!]` : type;
      return [`${operator}: ${of}`, OPERATORS[operator]];
    });
    return block(`${doc} Several comparisons must all hold.`, `input ${type}Comparator`, entries);
  }),
  block('Looks into a list of ids.', 'input IDListComparator', {
    'has: ID': 'Has this id.',
    'hasAny: [ID!]': `Has at least one of these, at most ${LIMITS.graphFilterListMax}.`,
    'hasAll: [ID!]': `Has all of these, at most ${LIMITS.graphFilterListMax}.`,
    'isEmpty: Boolean': 'True: the list is empty. False: it is not.',
  }),
  ...MODELS.map(filterSdl),
  ...collections().map(({ name, plural }) =>
    block(
      `What the ${plural} of a record must be. Only those you may see count, archived ones too.`,
      `input ${name}CollectionFilter`,
      {
        [`some: ${name}Filter`]: 'At least one matches.',
        [`every: ${name}Filter`]: 'None fails to match; also true of none at all.',
        [`none: ${name}Filter`]: 'None matches.',
      },
    ),
  ),
].join('\n\n');

/** Models of which a record has several, in a list of ids or by their references to it. */
function collections(): readonly Model[] {
  const held = MODELS.flatMap((model) => [
    ...relationsOf(model).flatMap(({ target, many }) => (many ? [target] : [])),
    ...inversesOf(model).map(({ source }) => source),
  ]);
  return MODELS.filter((model) => held.includes(model));
}

function filterSdl(model: Model): string {
  const { name, plural } = model;
  return block(
    `Which ${plural} to read. All given conditions must hold. Example: \`{or: [{createdAt: {gte: "2026-11-01"}}, {id: {eq: "…"}}]}\`.`,
    `input ${name}Filter`,
    {
      [`and: [${name}Filter!]`]: 'All of these hold.',
      [`or: [${name}Filter!]`]: 'At least one of these holds.',
      ...entriesOf(fieldsOf(model), ([field, served]) => [
        `${field}: ${comparatorOf(model, field, served)}`,
        served.doc,
      ]),
      ...entriesOf(relationsOf(model), ({ name: field, target, many }) =>
        many
          ? [`${field}: ${target.name}CollectionFilter`, `What its ${target.plural} are.`]
          : [
              `${field}: ${target.name}Filter`,
              `What the ${target.name} is; a record without one, or with one that you may not see, does not match.`,
            ],
      ),
      ...entriesOf(inversesOf(model), ({ name: field, source }) => [
        `${field}: ${source.name}CollectionFilter`,
        `What its ${field} are.`,
      ]),
    },
  );
}

function comparatorOf(model: Model, field: string, served: ServedField): string {
  if (served.sqlType === 'uuid[]') return 'IDListComparator';
  return `${typeNameOf(model, field, served)}Comparator`;
}
