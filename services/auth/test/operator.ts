import { generateApiKey } from '@wts/access';
import type { Contract } from '@wts/contracts';
import { callOperation, type OperationReply, type OperationRequest } from '@wts/testkit';
import { compile } from '@wts/service-kit/routes';
import { randomUUID } from 'node:crypto';
import { SERVICE, type TestService } from './test-service.ts';

/** An operator with a token of their own, who calls a replica of the service. */
export class TestOperator {
  readonly token: string;
  readonly id: string;
  readonly #testService: TestService;

  private constructor(testService: TestService, token: string, id: string) {
    this.#testService = testService;
    this.token = token;
    this.id = id;
  }

  static async of(testService: TestService): Promise<TestOperator> {
    const { token, hash } = generateApiKey('wtsop_');
    const id = randomUUID();
    const sql = `insert into auth.operator_tokens (id, token_hash, label) values ($1, $2, 'test')`;
    await testService.backends.sql(sql, [id, Buffer.from(hash, 'hex')]);
    return new TestOperator(testService, token, id);
  }

  call<C extends Contract>(
    contract: C,
    request: OperationRequest<C>,
    on: TestService = this.#testService,
  ): Promise<OperationReply<C>> {
    const called = { url: on.service.url, name: 'auth', compile } as const;
    const headers = { authorization: `Bearer ${this.token}`, ...(request as { headers?: object }).headers };
    return callOperation(called, SERVICE, contract, { ...request, headers } as OperationRequest<C>);
  }
}
