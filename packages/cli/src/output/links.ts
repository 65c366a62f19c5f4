import type { Io } from '../io.ts';
import { safeLine } from './safe-text.ts';

/**
 * An address as a link (OSC 8), which works as a whole also where the terminal cuts it into lines. A terminal that does not know
 * links may show the sequence as text, so it goes only to those that are known to have them.
 */
export function linkText(address: string, { env, isTty }: Pick<Io, 'env' | 'isTty'>): string {
  const text = safeLine(address);
  if (!isTty.stderr || !hasLinks(env) || !URL.canParse(address)) return text;
  // An address in this form has no control character.
  return `\u001B]8;;${new URL(address).href}\u001B\\${text}\u001B]8;;\u001B\\`;
}

function hasLinks({ TERM = '', TERM_PROGRAM = '', FORCE_HYPERLINK = '', ...env }: Io['env']): boolean {
  if (FORCE_HYPERLINK !== '') return FORCE_HYPERLINK !== '0';
  // What runs inside tmux or screen may have the variables of the terminal outside, and may not reach it.
  if (/^(?:dumb|screen|tmux)/.test(TERM)) return false;
  return (
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|zed)$/.test(TERM_PROGRAM) ||
    /kitty|alacritty|foot|ghostty/.test(TERM) ||
    Number(env['VTE_VERSION']) >= 5_000 ||
    Number(env['KONSOLE_VERSION']) >= 201_200 ||
    env['WT_SESSION'] !== undefined
  );
}
