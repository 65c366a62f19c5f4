import { Fault, graphqlApi } from '@wts/contracts';
import { sendText } from '@wts/service-kit/http';
import { mountStream } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { execute, parse, validate } from 'graphql';
import type { Caller, Context, RequestContext } from '../context.ts';
import { readsOf } from '../queries/reads.ts';
import { writesOf } from '../commands/writes.ts';
import { SCHEMA } from '../graphql/schema.ts';

/** `POST /graphql`: one operation. Keeps graphql.post.body and graphql.post.answer. */
export function mountGraphql(router: IRouter, context: Context): void {
  mountStream(router, graphqlApi.query, async ({ req, res, principal, requestId, signal, body }) => {
    if (typeof body.query !== 'string')
      throw new Fault('validation_failed', { message: 'body must have the property query' });
    const document = parse(body.query);
    const errors = validate(SCHEMA, document);
    const caller: Caller = { principal, requestId, signal };
    const contextValue: RequestContext = {
      ...caller,
      reads: readsOf(context, caller),
      writes: writesOf(context, caller),
    };
    const result =
      errors.length > 0
        ? { errors }
        : await execute({
            schema: SCHEMA,
            document,
            contextValue,
            variableValues: body.variables,
            operationName: body.operationName,
          });
    sendText(req, res, { status: 200, text: JSON.stringify(result), headers: { 'content-type': 'application/json' } });
  });
}
