import assert from 'node:assert/strict';
import { EXITS, type CliFault } from '../fault.ts';
import { listenForCallback } from './login-callback.ts';

describe('the wait for the page of a login', () => {
  it('ends after its time with the exit code of a missing sign-in, and the port is free again', async () => {
    const listener = await listenForCallback();
    const waiting = listener.next('s', { signal: new AbortController().signal, timeoutMs: 20 });
    await assert.rejects(waiting, (fault: CliFault) => EXITS[fault.exit][0] === 4 && fault.code === 'timed_out');
    await listener[Symbol.asyncDispose]();
    await assert.rejects(fetch(`http://127.0.0.1:${listener.port}/`));
  });

  it('takes no request with the name of another host, as a site could send by a name that leads to this machine', async () => {
    await using listener = await listenForCallback();
    const { request } = await import('node:http');
    const waiting = listener.next('s', { signal: new AbortController().signal, timeoutMs: 10_000 });
    const statusOf = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const path = '/callback?code=c&state=s';
        request({ host: '127.0.0.1', port: listener.port, path, headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    assert.equal(await statusOf('evil.example'), 404);
    const answered = statusOf(`127.0.0.1:${listener.port}`);
    const { code, finish } = await waiting;
    await finish(null);
    assert.deepEqual([code, await answered], ['c', 200]);
  });
});
