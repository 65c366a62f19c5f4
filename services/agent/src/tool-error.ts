import { NameError } from '@wts/client/names';
import { Fault } from '@wts/contracts';
import { WordError } from '@wts/models/words';

interface ToolErrorOptions extends ErrorOptions {
  readonly retryAfterSeconds?: number;
}

/** What a model reads when a tool refuses: what is wrong, and what to do next. The text is public. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** As `extensions.code` of GraphQL, in lower case. */
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: string, message: string, { retryAfterSeconds, ...options }: ToolErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** What to do next, where the message of the graph service lacks it. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthenticated: 'Ask the person to connect again.',
  // Also refusals of scope, which have this code in results of GraphQL; their message names the scope.
  forbidden:
    'If the message names a scope, this connection lacks it: ask the person to connect again and allow it. Otherwise the person lacks the role: ask an owner or admin of the workspace.',
  not_found: 'Look for it with find_tasks, search or a list tool, and use its id.',
  rate_limited: 'Wait before the next call.',
  complexity_limit_exceeded: 'Ask for less with `limit`.',
  deadline_exceeded: 'Ask for less with `limit` or narrower filters.',
  internal: 'It is a fault of the server, not of the arguments. Try once more; then report it with the request id.',
};

/** With its end, because another sentence follows; messages of GraphQL have none. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Codes of faults of this system; all others are about the arguments or the rights of the caller. */
const FAILURES: ReadonlySet<string> = new Set(['unavailable', 'internal', 'deadline_exceeded']);
const RETRY_SECONDS = 5;

/** Whether a code is of a fault of this system, after which a change may be made or not. */
export function isFailureCode(code: string): boolean {
  return FAILURES.has(code);
}

/** What to do when a record may have been added or not: without a key, a repeated call could add it twice. */
export function unknownAdvice(idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined
    ? 'Some of it may have been done: check with find_tasks, list_comments or list_projects, and repeat only what is missing.'
    : 'Some of it may have been done: repeat it with the same idempotencyKey, which adds nothing twice.';
}

export interface Refusal {
  readonly code: string;
  readonly text: string;
  readonly isFailure: boolean;
}

/**
 * The text for the model. Whatever is no refusal of words and no Fault is a bug, of which nothing is shown. A call that `adds`
 * something may be half done when it fails.
 * Keeps agent.errors.outage.
 */
export function refusalOf(
  error: unknown,
  requestId: string,
  adds?: { readonly idempotencyKey: string | undefined },
): Refusal {
  const { code, message, retryAfterSeconds } = toToolError(error);
  const isFailure = FAILURES.has(code);
  const isUnknown = isFailure && adds !== undefined;
  const parts = [`${code}: ${sentence(message)}`, isUnknown ? unknownAdvice(adds.idempotencyKey) : ADVICE[code]];
  if (code === 'unavailable' || retryAfterSeconds !== undefined) {
    const how = isUnknown && adds.idempotencyKey === undefined ? '' : ' with the same arguments';
    parts.push(`Retry after ${retryAfterSeconds ?? RETRY_SECONDS} seconds${how}.`);
  }
  if (isFailure) parts.push(`Request id: ${requestId}.`);
  return { code, text: parts.filter((part) => part !== undefined).join(' '), isFailure };
}

/** The refusal of what the caller wrote; null for an error of another kind. */
export function refusedWords(error: unknown): ToolError | null {
  if (error instanceof ToolError) return error;
  if (error instanceof NameError) return new ToolError(error.code, error.message, { cause: error });
  return error instanceof WordError ? new ToolError('bad_user_input', error.message, { cause: error }) : null;
}

function toToolError(error: unknown): ToolError {
  const refused = refusedWords(error);
  if (refused !== null) return refused;
  if (error instanceof Fault) {
    const { code, retryAfterSeconds } = error;
    const names: Readonly<Record<string, string>> = { validation_failed: 'bad_user_input' };
    if (error.status >= 500 && code !== 'unavailable') return new ToolError('internal', 'Something went wrong.');
    const message = code === 'unavailable' ? 'A part of the service is unavailable for now.' : error.message;
    return new ToolError(names[code] ?? code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  }
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new ToolError('deadline_exceeded', 'The call took too long and was cancelled.');
  return new ToolError('internal', 'Something went wrong.');
}
