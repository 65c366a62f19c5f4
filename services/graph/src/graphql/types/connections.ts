import { LIMITS } from '@wts/contracts';
import { MODELS, type Model } from '@wts/models';

import { described } from './names.ts';

const { graphPageDefault: pageDefault, graphPageMax: pageMax } = LIMITS;

/** The arguments of a connection, at the root and in records. `also` is further ones. */
export function connectionArguments({ name, archivable, search }: Model, also = ''): string {
  const find =
    search.length === 0
      ? ''
      : `
    ${described(`Only records in which these words are found, in ${search.map((field) => `\`${field}\``).join(' or ')}: whole words, beginnings of words, or with a slip in a long one.`)}
    search: String`;
  const archived = archivable
    ? `
    ${described('Also archived records, and those of archived projects and of deleted workspaces.')}
    includeArchived: Boolean = false`
    : '';
  return `(
    ${described(`How many to read, 1 to ${pageMax}; ${pageDefault} by default. Not together with \`last\`.`)}
    first: Int
    ${described('Only those after this cursor, which an earlier page had.')}
    after: String
    ${described(`How many to read from the end, 1 to ${pageMax}.`)}
    last: Int
    ${described('Only those before this cursor.')}
    before: String
    ${described('Only those that match.')}
    filter: ${name}Filter
    ${described('The order, the most important key first; without it the newest are first. Nulls are last. A page by creation reads only its records; in another order all that the filter leaves are read and sorted, so give one for long lists.')}
    orderBy: [${name}Order!]${find}${archived}${also}
  )`;
}

export const CONNECTION_TYPE_DEFS: string = [
  `${described('Where a page is among all records of its connection.')}
type PageInfo {
  ${described('Whether more records follow.')}
  hasNextPage: Boolean!
  ${described('Whether records come before.')}
  hasPreviousPage: Boolean!
  ${described('The cursor of the first record; null when the page is empty.')}
  startCursor: String
  ${described('The cursor of the last record, for `after` of the next page; null when the page is empty.')}
  endCursor: String
}`,
  ...MODELS.map(
    ({ name, plural }) => `${described(`A page of ${plural}.`)}
type ${name}Connection {
  ${described('The records with their cursors.')}
  edges: [${name}Edge!]!
  ${described('The records alone.')}
  nodes: [${name}!]!
  ${described('Whether there is more, and from where to go on.')}
  pageInfo: PageInfo!
  ${described('How many records match on all pages; counted only when it is selected.')}
  totalCount: Int!
}

${described(`A ${name} and its place in the order.`)}
type ${name}Edge {
  ${described('For `after` or `before` of the next page, with the same order.')}
  cursor: String!
  ${described('The record.')}
  node: ${name}!
}`,
  ),
].join('\n\n');
