import type { Contract, Principal } from '@wts/contracts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { Backends } from './backends.ts';
import { builtProgram } from './built-services.ts';
import { nodeEnvironment, tokenEnvironment } from './environment.ts';
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

  /** Runs the program that creates its demo data, and returns the one line that it prints. */
  async seed<T>(program: string, settings: Readonly<Record<string, string>>): Promise<T> {
    const { databaseUrl, syncUrl } = this.backends;
    const stores = { DATABASE_URL: databaseUrl, SYNC_SERVICE_URL: syncUrl };
    const env = { ...nodeEnvironment(), ...stores, ...tokenEnvironment(this.#called.name), ...settings };
    const { stdout } = await promisify(execFile)(process.execPath, [await builtProgram(program)], { env });
    assert.equal(stdout.trim().split('\n').length, 1, 'one line on stdout');
    return JSON.parse(stdout) as T;
  }
}

/** A principal as the gateway makes one for a session. */
export function sessionOf(userId: string): Principal {
  return { userId, scopes: ['read', 'write', 'admin'], credential: { kind: 'jwt', id: randomUUID() } };
}
