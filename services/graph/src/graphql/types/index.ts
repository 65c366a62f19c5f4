/** The types that can be read. */
export const READ_TYPE_DEFS = `
  "Everything that can be read."
  type Query {
    "The id of the person who calls."
    viewerId: ID!
  }
`;
