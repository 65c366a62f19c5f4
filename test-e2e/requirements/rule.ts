/** One promise of the service, as data: what it says, where it is said, where it is kept. */
export interface Rule {
  /** Stable name, cited by tests in their title as `[id]` and by the home file in a comment. */
  readonly id: string;
  /** The document and section the rule comes from. */
  readonly source: string;
  /** The rule in one sentence, as a caller would check it. */
  readonly text: string;
  /** The file that keeps it; null while that is not decided. */
  readonly home: string | null;
  /** Without it the rule is kept: built, and at least one test fails when it breaks. */
  readonly status?: 'planned';
}
