import { graphqlApi } from '@wts/contracts';
import { sendText } from '@wts/service-kit/http';
import { mountStream } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { SDL } from '../graphql/schema.ts';

/** `GET /graphql/schema.graphql`: public, as the description of REST is. */
export function mountSchema(router: IRouter): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' };
  mountStream(router, graphqlApi.schema, async ({ req, res }) => {
    sendText(req, res, { status: 200, text: SDL, headers });
  });
}
