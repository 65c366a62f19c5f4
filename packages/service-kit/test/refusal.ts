import assert from 'node:assert/strict';
import { API_VERSION, errorBodySchema, type ErrorBody, type ErrorCode } from '@wts/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Response } from 'supertest';

const isErrorBody = new Ajv2020({ strict: false }).compile<ErrorBody>(errorBodySchema);

/** What every error answer has, whatever went wrong. */
export function isRefusal(answer: Response, status: number, code: ErrorCode): Response {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  const body: unknown = answer.body;
  assert.ok(isErrorBody(body), JSON.stringify(isErrorBody.errors));
  const { statusCode, code: given, requestId } = body;
  assert.equal(given, code);
  assert.equal(statusCode, status);
  assert.equal(answer.headers['api-version'], API_VERSION);
  assert.equal(answer.headers['x-request-id'], requestId);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  return answer;
}

export const messageOf = (answer: Response): string => (answer.body as { message?: string }).message ?? '';
