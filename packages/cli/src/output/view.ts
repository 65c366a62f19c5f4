import type { Look, Style } from './look.ts';
import { ago, dayText } from './times.ts';

/** A column of a list. */
export interface Column<Row> {
  readonly title: string;
  /** The full value, for a pipe: ids, ISO times. */
  readonly value: (row: Row) => string | number | null | undefined;
  /** What a terminal shows instead, such as a relative time. */
  readonly shown?: (row: Row, look: Look) => string;
  readonly style?: (row: Row, look: Look) => Style | undefined;
  /** May be shortened to fit the terminal. */
  readonly isCut?: boolean;
  readonly isRight?: boolean;
}

/** A time, which a person reads as `3 hours ago`. */
export function agoColumn<Row>(title: string, value: (row: Row) => string | null): Column<Row> {
  return { title, value, shown: (row, look) => shownBy(ago, value(row), look) };
}

/** A day, which a person reads as `tomorrow`. */
export function dayColumn<Row>(title: string, value: (row: Row) => string | null): Column<Row> {
  return { title, value, shown: (row, look) => shownBy(dayText, value(row), look) };
}

/** A time or a day that may be missing. */
export function shownBy(show: typeof ago | typeof dayText, value: string | null, look: Look): string {
  return value === null ? '' : show(value, look);
}

/** A fact of one record, or a longer text below the facts. */
export interface Detail {
  readonly title: string;
  readonly value: string | number | null | undefined;
  readonly shown?: string;
  readonly style?: Style | undefined;
  /** What the record is, which a person reads without its title. */
  readonly isHeading?: boolean;
  /** A text of several lines, with its title above. */
  readonly isText?: boolean;
}

/** How records of one kind are shown. */
export interface View<Row> {
  /** `task`, `tasks`. */
  readonly nouns: readonly [one: string, many: string];
  readonly id: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
}
