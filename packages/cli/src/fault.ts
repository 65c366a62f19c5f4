/**
 * What a command ended with, for scripts: the only table of exit codes. `wts help exit-codes` and the tests read it.
 * Keeps cli.exit.codes.
 */
export const EXITS = {
  ok: [0, 'It worked, also when the reader of the output closed it early.'],
  failed: [1, 'It failed for another reason than those below.'],
  usage: [2, 'A wrong command, option or value; or you answered no to a question.'],
  'sign-in': [4, 'You are not signed in, or the credential was revoked, has expired or lacks a scope.'],
  'not-found': [5, 'What was named does not exist, or you may not see it.'],
  refused: [6, 'The service refused it, it conflicts with the current state, or a name may mean several records.'],
  'rate-limited': [7, 'Too many requests; the message says when to try again.'],
  unreachable: [8, 'No answer from the service in time.'],
  partly: [9, 'A part of it was done, the rest was refused: each is reported.'],
  interrupted: [130, 'Ctrl-C.'],
} as const satisfies Readonly<Record<string, readonly [code: number, meaning: string]>>;

export type Exit = keyof typeof EXITS;

interface FaultOptions extends ErrorOptions {
  /** For programs: the code of the API where the failure is of the service. Default: the name of the exit. */
  readonly code?: string;
  /** What to do next. */
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
}

/** An expected failure of a command, in one sentence for a person. */
export class CliFault extends Error {
  override readonly name = 'CliFault';
  readonly exit: Exit;
  readonly code: string;
  readonly hint: string | undefined;
  readonly requestId: string | undefined;

  constructor(exit: Exit, message: string, { code, hint, requestId, ...options }: FaultOptions = {}) {
    super(message, options);
    this.exit = exit;
    this.code = code ?? exit.replaceAll('-', '_');
    this.hint = hint;
    this.requestId = requestId;
  }
}

/** Of a file that the system does not let the command use. */
export function fileFault(path: string, what: 'read' | 'written', cause: unknown): CliFault {
  const { code = 'unknown' } = cause as NodeJS.ErrnoException;
  return new CliFault('failed', `${path} cannot be ${what} (${code}).`, { cause });
}

export function usageFault(message: string, hint?: string): CliFault {
  return new CliFault('usage', message, { hint });
}
