/** The changes, their inputs and their results. */
export const WRITE_TYPE_DEFS = `
  "Everything that can be changed."
  type Mutation {
    "Changes nothing."
    nothing: Boolean!
  }
`;
