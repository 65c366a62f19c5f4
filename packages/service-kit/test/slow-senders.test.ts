import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { API_VERSION, type ErrorBody } from '@wts/contracts';
import express from 'express';
import { createHttpServer, drainServer, listen, readBytes } from '../src/http/index.ts';
import { raw } from './raw.ts';

const PATIENCE_MS = 100;

describe('a slow sender', () => {
  let server: Server;
  let port: number;
  let failure: unknown;
  before(async () => {
    const app = express();
    app.post('/', (req) => {
      readBytes(req, 1000).catch((error: unknown) => {
        failure = error;
      });
    });
    const timeouts = { headersTimeoutMs: PATIENCE_MS, requestTimeoutMs: 2 * PATIENCE_MS, checkMs: 20 };
    server = createHttpServer(app, { timeouts });
    port = await listen(server, '127.0.0.1', 0);
  });
  after(() => drainServer(server, 0));

  const cases: Readonly<Record<string, { parts: string[]; drip?: string }>> = {
    'sends nothing': { parts: [] },
    'stops in the middle of the headers': { parts: ['GET / HTTP/1.1\r\nHost: a\r\n'] },
    'sends one header after the other': { parts: ['GET / HTTP/1.1\r\nHost: a\r\n'], drip: 'X-A: 1\r\n' },
    'sends one byte of the body after the other': {
      parts: ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n'],
      drip: 'x',
    },
  };
  for (const [what, { parts, drip }] of Object.entries(cases)) {
    it(`that ${what} gets 408 and is disconnected [limits.time.slow-sender]`, async () => {
      const answer = await raw({ port, parts, until: 'close', ...(drip === undefined ? {} : { drip }) });
      assert.equal(answer.status, 408, answer.text);
      assert.equal((JSON.parse(answer.body) as ErrorBody).code, 'request_timeout');
      assert.equal(answer.headers['api-version'], API_VERSION);
      assert.equal(answer.headers.connection, 'close');
    });
  }

  it('leaves no handler waiting for the rest [limits.time.slow-sender]', () =>
    assert.match(String(failure), /ClientClosedError/));
});
