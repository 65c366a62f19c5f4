import stringWidth from 'string-width';
import { styled, type Look } from './look.ts';
import { safeLine } from './safe-text.ts';
import type { Column } from './view.ts';

const GAP = 2;
/** A text of this width still says what it is. */
const CUT_READABLE = 30;
const CUT_MIN = 8;
const COLUMNS_KEPT = 2;

/** An aligned table that fits the terminal. Columns without any value are left out. */
export function tableText<Row>(rows: readonly Row[], all: readonly Column<Row>[], look: Look): string {
  const cells = all.map(({ value, shown }) =>
    rows.map((row) => safeLine(shown?.(row, look) ?? String(value(row) ?? ''))),
  );
  const kept = all
    .map((column, at) => ({ column, cells: cells[at] ?? [] }))
    .filter(({ cells: of }) => of.some((cell) => cell !== ''));
  const natural = kept.map(({ column, cells: of }) =>
    Math.max(stringWidth(column.title), ...of.map((cell) => stringWidth(cell))),
  );
  const widths = fitted(
    natural,
    kept.map(({ column }) => column.isCut === true),
    look.columns,
  );
  const columns = kept.slice(0, widths.length);
  const line = (
    cellOf: (at: number) => string,
    styleOf: (at: number) => Column<Row>['style'],
    row: Row | null,
  ): string =>
    columns
      .map(({ column }, at) => {
        const text = cut(cellOf(at), widths[at] ?? 0);
        const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - stringWidth(text)));
        const style = row === null ? 'dim' : styleOf(at)?.(row, look);
        const shown = styled(text, style, look);
        return column.isRight === true ? pad + shown : shown + (at === columns.length - 1 ? '' : pad);
      })
      .join(' '.repeat(GAP))
      .trimEnd();
  const header = line(
    (at) => columns[at]?.column.title ?? '',
    () => undefined,
    null,
  );
  const lines = rows.map((row, index) =>
    line(
      (at) => columns[at]?.cells[index] ?? '',
      (at) => columns[at]?.column.style,
      row,
    ),
  );
  return [header, ...lines].map((text) => `${text}\n`).join('');
}

/**
 * Widths that fit: columns that may be cut become narrower, the widest first, as long as they can be read; then the last columns are
 * left out; then the rest is cut further.
 */
function fitted(natural: readonly number[], isCut: readonly boolean[], columns: number): number[] {
  let widths = [...natural];
  const excess = (): number => widths.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  const cutDownTo = (least: number): void => {
    for (;;) {
      const widest = Math.max(...widths.filter((_, at) => isCut[at]));
      if (excess() <= 0 || widest <= least) return;
      const at = widths.findIndex((width, index) => isCut[index] && width === widest);
      widths[at] = Math.max(least, widest - Math.max(1, excess() >> 1));
    }
  };
  cutDownTo(CUT_READABLE);
  while (excess() > 0 && widths.length > COLUMNS_KEPT) widths = widths.slice(0, -1);
  cutDownTo(CUT_MIN);
  return widths;
}

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cut to a width, never inside a character of several code points. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Lines of values separated by tabs, for a pipe. */
export function tabText<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return rows.map((row) => `${columns.map(({ value }) => safeLine(String(value(row) ?? ''))).join('\t')}\n`).join('');
}
