import { LIMITS } from '@wts/contracts';
import { MODELS, type Model } from '@wts/models';
import { block, type Entries } from '../sdl.ts';

const { graphPageDefault: pageDefault, graphPageMax: pageMax } = LIMITS;

/** The arguments of a connection, at the root and in records. */
export function connectionArguments({ name, archivable, search }: Model): Entries {
  const searched = search.map((field) => `\`${field}\``).join(' or ');
  return {
    'first: Int': `How many to read, 1 to ${pageMax}; ${pageDefault} by default. Not together with \`last\`.`,
    'after: String': 'Only those after this cursor, which an earlier page had.',
    'last: Int': `How many to read from the end, 1 to ${pageMax}.`,
    'before: String': 'Only those before this cursor.',
    [`filter: ${name}Filter`]: 'Only those that match.',
    [`orderBy: [${name}Order!]`]:
      'The order, the most important key first; without it the newest are first. Nulls are last. A page by creation reads only its records; in another order all that the filter leaves are read and sorted, so give one for long lists.',
    ...(search.length > 0 && {
      'search: String': `Only records in which these words are found, in ${searched}: whole words, beginnings of words, or with a slip in a long one.`,
    }),
    ...(archivable && INCLUDE_ARCHIVED),
  };
}

export const INCLUDE_ARCHIVED: Entries = {
  'includeArchived: Boolean = false':
    'Also archived records, and those of archived projects and of deleted workspaces.',
};

export const CONNECTION_TYPE_DEFS: string = [
  block('Where a page is among all records of its connection.', 'type PageInfo', {
    'hasNextPage: Boolean!': 'Whether more records follow.',
    'hasPreviousPage: Boolean!': 'Whether records come before.',
    'startCursor: String': 'The cursor of the first record; null when the page is empty.',
    'endCursor: String': 'The cursor of the last record, for `after` of the next page; null when the page is empty.',
  }),
  ...MODELS.flatMap(({ name, plural }) => [
    block(`A page of ${plural}.`, `type ${name}Connection`, {
      [`edges: [${name}Edge!]!`]: 'The records with their cursors.',
      [`nodes: [${name}!]!`]: 'The records alone.',
      'pageInfo: PageInfo!': 'Whether there is more, and from where to go on.',
      'totalCount: Int!': 'How many records match on all pages; counted only when it is selected.',
    }),
    block(`A ${name} and its place in the order.`, `type ${name}Edge`, {
      'cursor: String!': 'For `after` or `before` of the next page, with the same order.',
      [`node: ${name}!`]: 'The record.',
    }),
  ]),
].join('\n\n');
