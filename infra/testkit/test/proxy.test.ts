import { equal, rejects } from 'node:assert/strict';
import { openProxy, receiver } from '../src/index.ts';

describe('a proxy (skipped where there is none)', function proxies() {
  for (const name of ['nginx', 'haproxy'] as const) {
    it(`that is ${name} forwards requests and ends with its test`, async function forwards() {
      await using backend = await receiver();
      backend.answer({ status: 200, body: 'backend' });
      let url = '';
      {
        await using proxy = await openProxy(this, name, { to: Number(new URL(backend.url).port) });
        url = `http://127.0.0.1:${proxy.port}/a%2Fb`;
        equal(await (await fetch(url)).text(), 'backend');
        equal(backend.received[0]?.path, '/a%2Fb');
        equal(backend.received[0].headers['x-forwarded-for'], '127.0.0.1');
      }
      await rejects(fetch(url));
    });
  }
});
