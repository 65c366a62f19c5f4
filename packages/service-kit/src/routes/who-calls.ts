import type { InternalCall, ReadToken } from '@wts/access';
import { requireScope } from '@wts/access';
import type { Contract, Principal } from '@wts/contracts';
import { callersOf, Fault, HEADERS } from '@wts/contracts';
import type { Request } from 'express';

/** The caller of an operation without a credential. */
const ANONYMOUS: InternalCall = Object.freeze({
  principal: { userId: '', scopes: [], credential: { kind: 'service' as const, id: '' } },
  caller: '',
});

// Keeps authentication.internal.token.
export function whoCalls(req: Request, contract: Contract, readToken: ReadToken): InternalCall {
  if (contract.scope === 'none' && contract.internal === undefined) return ANONYMOUS;
  const call = readInternalToken(req.headers[HEADERS.principal], contract, readToken);
  if (contract.scope !== 'none') requireScope(call.principal, contract.scope);
  return call;
}

/**
 * The caller of an operation, from its internal token. The token must be for this service, and from a service that may call the
 * operation. Keeps authentication.internal.callers.
 */
export function readInternalToken(
  token: string | string[] | undefined,
  contract: Pick<Contract, 'id' | 'internal' | 'callers'>,
  readToken: ReadToken,
): InternalCall {
  if (typeof token !== 'string') throw new Fault('authorization_required');
  const call = readToken(token);
  const callers: readonly string[] = callersOf(contract);
  if (!callers.includes(call.caller)) throw unserved(`${contract.id} is not served to ${call.caller}`);
  if (contract.internal?.forItself && !isService(call.principal)) {
    throw unserved(`${contract.id} is not served on behalf of a person`);
  }
  return call;
}

function isService({ credential }: Principal): boolean {
  return credential.kind === 'service';
}

/** A fault of the deployment, not of the person on whose behalf the call is. */
function unserved(why: string): Fault {
  return new Fault('token_invalid', { cause: new Error(why) });
}
