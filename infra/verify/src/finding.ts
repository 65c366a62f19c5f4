/** Something that must never happen, and did. */
export interface Finding {
  /** Which promise is broken. */
  readonly promise:
    | 'dense'
    | 'one-group'
    | 'state-is-log'
    | 'columns-are-record'
    | 'place-follows-parent'
    | 'stream-is-log'
    | 'nothing-missing'
    | 'nothing-doubled'
    | 'in-order'
    | 'nothing-foreign'
    | 'acknowledged-is-there'
    | 'applied-once'
    | 'nobody-stands-still'
    | 'replica-is-state'
    | 'content-stays-in-tables';
  /** What was seen, with the place or id to look at. */
  readonly seen: string;
}

/** As many of a kind as help; the rest only counts. */
export const FINDINGS_MAX = 20;
