/**
 * SQL text for statements that are sent in one message, which takes no parameters. The server's strings are
 * standard-conforming (checked when the pool opens), so a doubled quote is the only thing to escape. Values hold no NUL:
 * fields refuse it.
 */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
