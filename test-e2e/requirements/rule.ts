/** One promise of the service: what it says, where it is said, where it is kept. */
export interface Rule {
  /** Stable name, cited by tests in their title as `[id]` and by the home file in a comment. */
  readonly id: string;
  /** The rule in one sentence, as a caller would check it. */
  readonly text: string;
  /** The file that keeps it. */
  readonly home: string;
  /** The document and section the rule comes from. */
  readonly source: string;
}

/** The rules of one surface, a line for each. */
export type Rows = readonly (readonly [id: string, text: string, home: string, source: string])[];
