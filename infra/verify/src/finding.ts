/** A broken guarantee that an audit found. */
export interface AuditFinding {
  readonly guarantee:
    | 'dense'
    | 'one-group'
    | 'state-is-log'
    | 'columns-are-record'
    | 'group-follows-parent'
    | 'series-once'
    | 'series-complete'
    | 'stream-is-log'
    | 'nothing-missing'
    | 'nothing-doubled'
    | 'in-order'
    | 'nothing-foreign'
    | 'acknowledged-is-there'
    | 'applied-once'
    | 'readers-advance'
    | 'copy-is-state'
    | 'content-stays-in-tables'
    | 'event-is-entry'
    | 'same-bytes'
    | 'signature-verifies'
    | 'retry-schedule'
    | 'attempts-end'
    | 'repeats-explained';
  /** What the audit saw, with the position or id. */
  readonly seen: string;
}

/** An audit reports at most so many findings of one kind. */
export const FINDINGS_MAX = 20;
