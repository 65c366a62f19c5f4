import type { Candidate } from './kinds.ts';

/** A word that names nothing, or one of several. The message is for the person who wrote it: what is wrong, and what is possible. */
export class NameError extends Error {
  override readonly name = 'NameError';
  /** As of GraphQL, in lower case. */
  readonly code: 'bad_user_input' | 'not_found';
  /** What an ambiguous word may name; empty for a word that names nothing. */
  readonly candidates: readonly Candidate[];

  constructor(code: NameError['code'], message: string, candidates: readonly Candidate[] = []) {
    super(message);
    this.code = code;
    this.candidates = candidates;
  }
}
