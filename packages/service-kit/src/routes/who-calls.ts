import type { IncomingHttpHeaders } from 'node:http';
import { requireScope, type InternalCall, type ReadToken } from '@wts/access';
import { callersOf, Fault, HEADERS, type Contract, type Principal } from '@wts/contracts';
import type { Request } from 'express';
import type { CallerNetworks } from '../fairness/index.ts';

/** The caller of an operation without a credential. */
const ANONYMOUS: InternalCall = Object.freeze({
  principal: { userId: '', scopes: [], credential: { kind: 'service' as const, id: '' } },
  caller: '',
});

/** What reads the headers with which the gateway, or another service, names the caller. */
export interface CallReader {
  readonly readToken: ReadToken;
  /** Where the networks of callers are recorded. */
  readonly networks: CallerNetworks;
}

// Keeps authentication.internal.token.
export function whoCalls(req: Request, contract: Contract, reader: CallReader): InternalCall {
  if (contract.scope === 'none' && contract.internal === undefined) return ANONYMOUS;
  const call = readInternalCall(req.headers, contract, reader);
  if (contract.scope !== 'none') requireScope(call.principal, contract.scope);
  return call;
}

/**
 * The caller of an operation, from its internal token. The token must be for this service, and from a service that may call the
 * operation; then the network beside it is true as well. Keeps authentication.internal.callers.
 */
export function readInternalCall(
  headers: IncomingHttpHeaders,
  contract: Pick<Contract, 'id' | 'internal' | 'callers'>,
  { readToken, networks }: CallReader,
): InternalCall {
  const { [HEADERS.principal]: token, [HEADERS.network]: network } = headers;
  if (typeof token !== 'string') throw new Fault('authorization_required');
  const call = readToken(token);
  const callers: readonly string[] = callersOf(contract);
  if (!callers.includes(call.caller)) throw unserved(`${contract.id} is not served to ${call.caller}`);
  if (contract.internal?.forItself && !isService(call.principal))
    throw unserved(`${contract.id} is not served on behalf of a person`);
  networks.record(call.principal.userId, network);
  return call;
}

function isService({ credential }: Principal): boolean {
  return credential.kind === 'service';
}

/** A fault of the deployment, not of the person on whose behalf the call is. */
function unserved(why: string): Fault {
  return new Fault('token_invalid', { cause: new Error(why) });
}
