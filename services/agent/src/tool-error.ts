import { Fault } from '@wts/contracts';

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

/** What to do next, where the message of the graph service does not say it. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthenticated: 'Ask the person to connect again.',
  forbidden: 'The person lacks the role for this; ask an owner or admin of the workspace.',
  not_found: 'Look for it with find_tasks, search or a list tool, and use its id.',
  rate_limited: 'Wait before the next call.',
  complexity_limit_exceeded: 'Ask for less with `limit`.',
  deadline_exceeded: 'Ask for less with `limit` or narrower filters.',
  internal: 'It is a fault of the server, not of the arguments. Try once more; then report it with the request id.',
};

/** Codes of faults of this system; all others are about the arguments or the rights of the caller. */
const FAILURES: ReadonlySet<string> = new Set(['unavailable', 'internal', 'deadline_exceeded']);
const RETRY_SECONDS = 5;

export interface Refusal {
  readonly code: string;
  readonly text: string;
  readonly isFailure: boolean;
}

/**
 * The text for the model. Whatever is neither a ToolError nor a Fault is a bug, of which nothing is shown.
 * Keeps agent.errors.outage.
 */
export function refusalOf(error: unknown, requestId: string): Refusal {
  const { code, message, retryAfterSeconds } = toToolError(error);
  const isFailure = FAILURES.has(code);
  const parts = [`${code}: ${message}`, ADVICE[code]];
  if (code === 'unavailable' || retryAfterSeconds !== undefined) {
    parts.push(`Retry after ${retryAfterSeconds ?? RETRY_SECONDS} seconds with the same arguments.`);
  }
  if (isFailure) parts.push(`Request id: ${requestId}.`);
  return { code, text: parts.filter((part) => part !== undefined).join(' '), isFailure };
}

function toToolError(error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  if (error instanceof Fault) {
    const { code, retryAfterSeconds } = error;
    const names: Readonly<Record<string, string>> = { validation_failed: 'bad_user_input' };
    if (error.status >= 500 && code !== 'unavailable') return new ToolError('internal', 'Something went wrong.');
    const message = code === 'unavailable' ? 'A part of the service is unavailable for now.' : error.message;
    return new ToolError(names[code] ?? code, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new ToolError('deadline_exceeded', 'The call took too long and was cancelled.');
  }
  return new ToolError('internal', 'Something went wrong.');
}
