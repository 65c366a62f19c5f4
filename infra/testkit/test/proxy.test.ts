import { equal, rejects } from 'node:assert/strict';
import { openProxy, receiver } from '../src/index.ts';

describe('a proxy (skipped where there is none)', function proxies() {
  this.timeout(240_000);
  for (const name of ['nginx', 'haproxy'] as const) {
    it(`that is ${name} passes requests on, and is gone with its test`, async function passes() {
      await using behind = await receiver();
      behind.answer({ status: 200, body: 'behind' });
      let url = '';
      {
        await using proxy = await openProxy(this, name, { to: Number(new URL(behind.url).port) });
        url = `http://127.0.0.1:${proxy.port}/a%2Fb`;
        equal(await (await fetch(url)).text(), 'behind');
        equal(behind.received[0]?.path, '/a%2Fb');
        equal(behind.received[0].headers['x-forwarded-for'], '127.0.0.1');
      }
      await rejects(fetch(url));
    });
  }
});
