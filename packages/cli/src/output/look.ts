import { styleText } from 'node:util';
import type { Io } from '../io.ts';

export type Style = Parameters<typeof styleText>[0];

/** How the output looks: to whom it goes, in which zone and language its days are. */
export interface Look {
  /** For a person at a terminal: cut to its width, with relative times. */
  readonly isTerminal: boolean;
  readonly isColored: boolean;
  /** For screen readers: no bars, no spinners, words beside colors. */
  readonly isAccessible: boolean;
  readonly columns: number;
  readonly timezone: string;
  readonly now: Date;
}

export function lookOf(
  io: Io,
  { noColor, accessible }: { readonly noColor: boolean; readonly accessible: boolean },
): Look {
  return {
    isTerminal: io.isTty.stdout,
    isColored: !noColor && isColored(io.env, io.isTty.stdout),
    isAccessible: accessible || (io.env['WTS_ACCESSIBLE'] ?? '') !== '',
    columns: Math.max(io.columns, COLUMNS_MIN),
    // Help has no times, and the name of the zone takes milliseconds.
    get timezone() {
      return io.timezone;
    },
    now: io.now(),
  };
}

const COLUMNS_MIN = 20;

/** https://no-color.org and https://bixense.com/clicolors */
function isColored(env: Io['env'], isTerminal: boolean): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['CLICOLOR_FORCE'] ?? env['FORCE_COLOR'] ?? '';
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['CLICOLOR'] !== '0' && env['TERM'] !== 'dumb';
}

export function styled(text: string, style: Style | undefined, { isColored: isOn }: Pick<Look, 'isColored'>): string {
  return isOn && style !== undefined && text !== '' ? styleText(style, text, { validateStream: false }) : text;
}
