/** What a program of a service does, by its arguments. Keeps installation.arguments. */
const COMMANDS = {
  '': 'serve',
  '--version': 'version',
  '--settings': 'settings',
  'check-config': 'check-config',
  healthcheck: 'ready',
  'healthcheck ready': 'ready',
  'healthcheck live': 'live',
  migrate: 'migrate',
  'migrate --check': 'check-schema',
  'migrate --plan': 'plan-migration',
} as const;

type Command = (typeof COMMANDS)[keyof typeof COMMANDS];

/** Null for arguments that are no command. */
export function commandOf(args: readonly string[]): Command | null {
  const words = args.join(' ');
  return Object.hasOwn(COMMANDS, words) ? COMMANDS[words as keyof typeof COMMANDS] : null;
}

export const USAGE = `Its arguments are one of: ${Object.keys(COMMANDS)
  .filter((words) => words !== '')
  .join(', ')}. Without any it serves.`;
