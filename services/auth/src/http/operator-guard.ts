import { readApiKey } from '@wts/access';
import { Fault, type Contract, type ErrorCode, type ReplyOf } from '@wts/contracts';
import { mount, type Authenticate, type Call, type Frozen } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import type { Operator } from '../commands/disable-person.ts';
import type { OperatorContext } from '../context.ts';
import { OPERATOR_TOKEN_PREFIX } from '../domain/operator-token.ts';
import type { OperatorTokenStore } from '../store/operator-tokens.ts';
import { visitorOf } from './sender.ts';

/** Mounts an operation of operators, with the guard. */
export type MountOperation = ReturnType<typeof operationMounter>;

export function operationMounter(router: IRouter, { tokens, idempotency }: OperatorContext) {
  const options = { authenticate: operatorGuard(tokens), idempotency };
  return <C extends Contract, const R extends Frozen<ReplyOf<C>>>(
    contract: C,
    handler: (call: Call<C>) => Promise<R>,
  ) => mount(router, contract, handler, options);
}

export type OperatorCall = Pick<Call, 'principal' | 'req' | 'requestId'>;

/** Begins the id of the credential of an operator, and the id of the token follows. */
const OPERATOR = 'operator:';

/** RFC 9110 section 11.1: the scheme in any case. */
const BEARER = /^bearer +(\S+)$/i;

/**
 * The only check of the credential of an operator. The token is in the Authorization header, which the gateway passes on; no cookie, no
 * key and no token of a person counts. Keeps operator.token.only.
 */
export function operatorGuard(tokens: Pick<OperatorTokenStore, 'use'>): Authenticate {
  return async ({ headersDistinct }, res) => {
    res.setHeader('cache-control', 'no-store');
    const [header, ...more] = headersDistinct['authorization'] ?? [];
    if (header === undefined) throw refusal('authorization_required');
    const token = more.length > 0 ? undefined : BEARER.exec(header)?.[1];
    if (token === undefined) throw refusal('authorization_malformed');
    const hash = readApiKey(token, OPERATOR_TOKEN_PREFIX)?.hash;
    const id = hash === undefined ? null : await tokens.use(hash);
    if (id === null) throw refusal('token_invalid');
    const credential = { kind: 'service', id: `${OPERATOR}${id}` } as const;
    return { principal: { userId: '', scopes: [], credential }, caller: '' };
  };
}

/** The operator of a call, for the security record. */
export function operatorOf(call: OperatorCall): Operator {
  const id = call.principal.credential.id.slice(OPERATOR.length);
  return { actor: { kind: 'operator', id }, visitor: visitorOf(call) };
}

function refusal(code: ErrorCode): Fault {
  return new Fault(code, {
    message: 'This operation needs an operator token, which is made on the machine of the service.',
    headers: { 'WWW-Authenticate': 'Bearer realm="operator"' },
  });
}
