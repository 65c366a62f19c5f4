/** An error that the user can fix: printed as its message, without a stack. Any other error in this package is a bug. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Lines of another program within a message. */
export function indented(lines: string): string {
  return lines.replace(/^/gm, '    ');
}
