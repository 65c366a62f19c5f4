import type { Contract, Principal } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { Backends } from './backends.ts';
import { callOperation, type CalledService, type OperationReply, type OperationRequest } from './operation.ts';

/** A person who calls, with what their credential grants. */
export interface TestPerson {
  readonly userId: string;
  readonly email: string;
  readonly principal: Principal;
}

/** A service in the process of its tests, and what it needs. Every answer is compared with the contract. */
export class ServiceUnderTest<Running extends { readonly url: string }> {
  readonly backends: Backends;
  readonly service: Running;
  readonly #called: Pick<CalledService, 'name' | 'compile'>;

  constructor(backends: Backends, service: Running, called: Pick<CalledService, 'name' | 'compile'>) {
    this.backends = backends;
    this.service = service;
    this.#called = called;
  }

  call<C extends Contract>(
    who: TestPerson | Principal,
    contract: C,
    request: OperationRequest<C>,
  ): Promise<OperationReply<C>> {
    const called = { url: this.service.url, ...this.#called };
    return callOperation(called, 'principal' in who ? who.principal : who, contract, request);
  }
}

/** A principal as the gateway makes one for a session. */
export function sessionOf(userId: string): Principal {
  return { userId, scopes: ['read', 'write', 'admin'], credential: { kind: 'jwt', id: randomUUID() } };
}
