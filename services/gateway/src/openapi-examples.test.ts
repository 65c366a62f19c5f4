import type { Examples, MutateReply } from '@wts/contracts';
import { errorBody, errorBodySchema, ERROR_CODES, Fault, syncApi } from '@wts/contracts';
import { compile } from '@wts/service-kit/routes';
import assert from 'node:assert/strict';
import { API_ROUTES } from './routes.ts';

describe('the examples of the description', () => {
  it('exist for every JSON answer and fit its schema', () => {
    for (const { contract } of API_ROUTES) {
      const { status, contentType = 'application/json', schema, example, examples } = contract.reply;
      // A socket has no body.
      if (status === 101 || contract.page) continue;
      const shown = valuesOf(example, examples);
      assert.ok(shown.length > 0, contract.id);
      if (contentType === 'application/json') for (const value of shown) compile(schema, contract.id)(value);
    }
  });

  it('exist for every request body and fit its schema', () => {
    const taking = API_ROUTES.flatMap(({ contract }) => (contract.body === undefined ? [] : [contract]));
    assert.ok(taking.length > 5);
    for (const { id, body, bodyExample, bodyExamples } of taking) {
      const shown = valuesOf(bodyExample, bodyExamples);
      assert.ok(shown.length > 0, id);
      for (const value of shown) compile(body!, id)(value);
    }
  });

  it('show the life of a task in every operation about records, and a refusal that has status 200 [meta.openapi.examples]', () => {
    const { mutate, batch, deltas, bootstrap } = syncApi;
    const summaries = Object.values(mutate.bodyExamples ?? {}).map(({ summary }) => summary);
    for (const summary of ['Create a task', 'Complete a task', 'Move a task to the trash', 'Comment on a task'])
      assert.ok(summaries.includes(summary), summary);
    assert.ok(JSON.stringify(batch.bodyExamples).includes('"Tasks of a workspace"'));
    for (const text of [deltas, batch, bootstrap].map(({ reply }) => JSON.stringify(reply.example)))
      assert.match(text, /Write the release notes/);
    const refused = mutate.reply.examples?.['refused']?.value as MutateReply;
    assert.deepEqual([refused.ok, refused.success, refused.results[0]?.success], [true, false, false]);
    assert.match(mutate.description ?? '', /\*\*A refused transaction is answered with status 200/);
  });

  it('of errors fit the error shape, and have a message that adds to their name', () => {
    const check = compile(errorBodySchema, 'error');
    for (const code of ERROR_CODES) {
      const body = errorBody(new Fault(code), 'a-request');
      check(body);
      assert.match(body.message ?? '', /^[A-Z][^`]{20,}\.$/, code);
      assert.notEqual(body.message, body.error);
    }
  });
});

function valuesOf(example: unknown, examples: Examples | undefined): unknown[] {
  if (examples !== undefined) return Object.values(examples).map(({ value }) => value);
  return example === undefined ? [] : [example];
}
