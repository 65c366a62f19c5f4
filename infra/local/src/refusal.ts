/**
 * A fault a person can do something about: printed as its sentence, without a stack. Everything else that is thrown in
 * this package is a bug of ours.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
