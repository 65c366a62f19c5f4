import { errorBody, errorBodySchema, ERROR_CODES, Fault } from '@wts/contracts';
import { compile } from '@wts/service-kit/routes';
import assert from 'node:assert/strict';
import { API_ROUTES } from './routes.ts';

describe('the examples of the description', () => {
  it('are there for every operation that answers with JSON, and fit its schema', () => {
    for (const { contract } of API_ROUTES) {
      const { status, contentType = 'application/json', schema, example } = contract.reply;
      // A socket has no body.
      if (status === 101 || contract.page) continue;
      assert.notEqual(example, undefined, contract.id);
      if (contentType === 'application/json') compile(schema, contract.id)(example);
    }
  });

  it('are there for every body that may be sent, and fit its schema', () => {
    const taking = API_ROUTES.flatMap(({ contract }) => (contract.body === undefined ? [] : [contract]));
    assert.ok(taking.length > 5);
    for (const { id, body, bodyExample } of taking) compile(body!, id)(bodyExample);
  });

  it('of errors fit the one error shape, and say in plain words what more than their name there is to say', () => {
    const check = compile(errorBodySchema, 'error');
    for (const code of ERROR_CODES) {
      const body = errorBody(new Fault(code), 'a-request');
      check(body);
      assert.match(body.message ?? '', /^[A-Z][^`]{20,}\.$/, code);
      assert.notEqual(body.message, body.error);
    }
  });
});
