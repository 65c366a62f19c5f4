import { GraphqlError, SyncError } from '@wts/client/api';
import { NameError } from '@wts/client/names';
import { WordError } from '@wts/models/words';
import { CliFault, type Exit } from '../fault.ts';

/** The one place that says how a failure of the service, of a name or of a word ends a command. */
export function faultOf(error: unknown): CliFault {
  if (error instanceof CliFault) return error;
  if (error instanceof WordError) return new CliFault('usage', error.message, { cause: error });
  if (error instanceof NameError)
    return new CliFault(error.candidates.length > 0 ? 'refused' : 'not-found', error.message, {
      code: error.candidates.length > 0 ? 'ambiguous' : 'not_found',
      cause: error,
    });
  if (error instanceof GraphqlError) return ofService(error, error.graphqlCode.toLowerCase());
  if (error instanceof SyncError) return ofService(error, error.code);
  if (isOfSystem(error)) {
    // `ENOSPC: no space left on device, write`
    const [, reason = error.message] = /^\w+: ([^,]*)/.exec(error.message) ?? [];
    return new CliFault('failed', `${error.path ?? 'A file'} cannot be used: ${reason} (${error.code}).`, {
      cause: error,
    });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new CliFault('failed', `A fault of this program: ${text}`, {
    code: 'bug',
    hint: 'Please report it. WTS_DEBUG=1 shows where it happened.',
    cause: error,
  });
}

/** What the operating system refused, such as a file that cannot be written. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** The fault of a refused change, by its code in GraphQL. */
export function refusalFault({ code, message }: { readonly code: string; readonly message: string }): CliFault {
  return new CliFault(exitOf(code.toLowerCase()) ?? 'refused', message, { code: code.toLowerCase() });
}

const EXIT_OF: Readonly<Record<string, Exit>> = {
  unauthenticated: 'sign-in',
  authorization_required: 'sign-in',
  authorization_malformed: 'sign-in',
  api_key_invalid: 'sign-in',
  token_invalid: 'sign-in',
  insufficient_scope: 'sign-in',
  not_found: 'not-found',
  bad_user_input: 'usage',
  validation_failed: 'usage',
  malformed_request: 'usage',
  parse_failed: 'usage',
  rate_limited: 'rate-limited',
  connection_failed: 'unreachable',
  deadline_exceeded: 'unreachable',
  unavailable: 'unreachable',
  unsupported_api_version: 'failed',
  internal: 'failed',
  answer_invalid: 'failed',
};

/** The code is what a server sent, such as `constructor`. A proxy in front of it limits too, with a body of its own. */
function exitOf(code: string, status?: number): Exit | undefined {
  if (status === 429) return 'rate-limited';
  return Object.hasOwn(EXIT_OF, code) ? EXIT_OF[code] : undefined;
}

const HINTS: Readonly<Record<string, string>> = {
  'sign-in': 'Sign in again: wts login',
  unsupported_api_version: 'The service is of another version: wts doctor shows both.',
  unreachable: 'Is the service running? wts doctor finds out more.',
};

function hintOf(code: string, exit: Exit): string | undefined {
  return HINTS[Object.hasOwn(HINTS, code) ? code : exit];
}

function ofService(error: SyncError, code: string): CliFault {
  const { message, requestId, retryAfterMs, status } = error;
  // GraphQL has one code for a missing scope and a missing role; the message names the scope.
  const isScope = code === 'insufficient_scope' || (code === 'forbidden' && /\bscope\b/i.test(message));
  const exit = isScope
    ? 'sign-in'
    : (exitOf(code, status) ?? (status !== undefined && status >= 500 ? 'failed' : 'refused'));
  const again = retryAfterMs === undefined ? undefined : `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  const scope = isScope ? 'This credential may not do that. Sign in with full access: wts login' : undefined;
  return new CliFault(exit, message, { code, requestId, hint: scope ?? again ?? hintOf(code, exit), cause: error });
}
