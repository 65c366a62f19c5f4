import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import type { Action, Call } from '../call.ts';
import { confirm } from '../commands/ask.ts';
import { fileFault, usageFault } from '../fault.ts';
import type { Io } from '../io.ts';
import { safeLine } from '../output/safe-text.ts';
import { candidatesOf } from './complete.ts';

/** Each gives the program the words up to the cursor, and gets candidates with what they are, separated by a tab. */
const SCRIPTS = {
  bash: `# wts completion bash
_wts() {
  local value about
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    [ -n "$value" ] && COMPREPLY+=("$(printf '%q' "$value")")
  done < <(wts __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _wts wts
`,
  zsh: `#compdef wts
# wts completion zsh
_wts() {
  local line
  local -a candidates
  while IFS= read -r line; do
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(wts __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe wts candidates
}
compdef _wts wts
`,
  fish: `# wts completion fish
complete -c wts -f -a '(wts __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
} as const;

type Shell = keyof typeof SCRIPTS;
const SHELLS: readonly string[] = Object.keys(SCRIPTS);

export const completion: Action = async (call) => {
  const [word = '', named] = call.words;
  if (word === 'install') return install(call, shellOf(named ?? basename(call.io.env['SHELL'] ?? '')));
  return call.output.text(SCRIPTS[shellOf(word)]);
};

/** What a shell asks for. It never fails: an error would stand in the prompt. Keeps cli.complete.silent. */
export const complete: Action = async ({ words, io, output }) => {
  const candidates = await candidatesOf(words, io).catch(() => []);
  await output.text(candidates.map(({ value, about }) => `${safeLine(value)}\t${safeLine(about)}\n`).join(''));
};

function shellOf(name: string): Shell {
  if (SHELLS.includes(name)) return name as Shell;
  throw usageFault(`${JSON.stringify(name)} has no completion.`, `One of: ${SHELLS.join(', ')}`);
}

/** Where a shell finds its completions; bash and zsh read them by a line in their settings. */
function filesOf(shell: Shell, { env }: Io): { readonly script: string; readonly settings: string | null } {
  const home = env['HOME'] ?? '';
  const folder = (name: string, standard: string): string =>
    (env[name] ?? '') === '' ? join(home, standard) : (env[name] ?? '');
  if (shell === 'fish')
    return { script: join(folder('XDG_CONFIG_HOME', '.config'), 'fish/completions/wts.fish'), settings: null };
  const script = join(folder('XDG_DATA_HOME', '.local/share'), 'wts', `completion.${shell}`);
  return { script, settings: join(shell === 'zsh' ? folder('ZDOTDIR', '') : home, `.${shell}rc`) };
}

async function install(call: Call, shell: Shell): Promise<void> {
  const { io, output } = call;
  const { script, settings } = filesOf(shell, io);
  const line = `[ -f '${script}' ] && . '${script}'`;
  const before = settings === null ? '' : await readFile(settings, 'utf8').catch(() => '');
  const isLineNeeded = settings !== null && !before.includes(line);
  await confirm(call, `Write ${script}${isLineNeeded ? `, and a line that reads it to ${settings}` : ''}?`);
  try {
    await makeFolder(dirname(script));
    await writeFile(script, SCRIPTS[shell]);
    if (isLineNeeded) await appendFile(settings, `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`);
  } catch (cause) {
    throw fileFault((cause as NodeJS.ErrnoException).path ?? script, 'written', cause);
  }
  await output.text(`Installed the completion for ${shell}. It works in new shells.\n`);
}
