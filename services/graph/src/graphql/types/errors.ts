import { GRAPH_ERRORS } from '../../domain/errors.ts';

/** The closed list as a type of the schema. */
export const ERROR_TYPE_DEFS = `
  "Why something failed, for programs: \`extensions.code\` of an error, and \`code\` of a refused change."
  enum ErrorCode {
${Object.entries(GRAPH_ERRORS)
  .map(([code, meaning]) => `    "${meaning}"\n    ${code}`)
  .join('\n')}
  }
`;
