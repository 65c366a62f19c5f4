import assert from 'node:assert/strict';
import { errorOf, exchange, request, type RawReply } from './raw.ts';
import { AUTH_URL, startTestGateway, type TestGateway } from './test-gateway.ts';

const LIMIT = 2;
const FORM = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 3'];
/** By policy: the operations that it counts together. */
const PER_ADDRESS: Readonly<Record<string, readonly string[]>> = {
  passwords: ['POST /join', 'POST /account/password'],
  register: ['POST /register'],
  authorize: ['GET /authorize', 'POST /authorize', 'GET /sign-in/provider', 'GET /account/connect'],
  token: ['POST /token'],
  connect: ['POST /account/connect/key', 'POST /account/connect/sign-out'],
  pages: [
    'GET /account',
    'GET /sign-in',
    'POST /sign-in',
    'GET /consent',
    'POST /account/keys',
    'POST /consent',
    'POST /account/connect/decision',
  ],
};

describe('a rate limit of the authorization origin', () => {
  let testGateway: TestGateway;
  before(async () => {
    const names = [...Object.keys(PER_ADDRESS), 'mcp'];
    testGateway = await startTestGateway({
      TRUSTED_PROXIES: '127.0.0.1',
      RATE_LIMITS: names.map((name) => `${name}=${LIMIT}`).join(','),
    });
  });
  after(() => testGateway.close());

  const call = (line: string, lines: readonly string[]): Promise<RawReply> =>
    exchange(
      testGateway.auth,
      request(line, lines, line.startsWith('POST') ? 'a=b' : '').replace('api.test', new URL(AUTH_URL).host),
    );
  const from = (address: string, line: string): Promise<RawReply> =>
    call(line, [`X-Forwarded-For: ${address}`, ...(line.startsWith('POST') ? FORM : [])]);

  for (const [name, lines] of Object.entries(PER_ADDRESS)) {
    for (const line of lines) {
      it(`"${name}" counts ${line} per address, also without an account [limits.rate.authorization, errors.429.retry-after]`, async () => {
        const address = `203.0.113.${Object.keys(PER_ADDRESS).indexOf(name) * 10 + lines.indexOf(line) + 1}`;
        for (let left = LIMIT - 1; left >= 0; left -= 1) {
          const reply = await from(address, line);
          assert.notEqual(reply.status, 429);
          assert.equal(reply.headers['ratelimit']?.[0]?.split(';t=')[0], `"${name}";r=${left}`);
        }
        const refused = await from(address, line);
        errorOf(refused, 429, 'rate_limited');
        assert.match(refused.headers['retry-after']?.[0] ?? '', /^[1-9]/);
        const other = address.replace('203.0.113', '198.51.100');
        assert.notEqual((await from(other, line)).status, 429, 'another address is not limited');
      });
    }
  }

  it('refuses a page with a page that says when to try again [limits.rate.authorization]', async () => {
    const open = (accept: string): Promise<RawReply> =>
      call('GET /sign-in', ['X-Forwarded-For: 203.0.113.250', `Accept: ${accept}`]);
    for (let n = 0; n < LIMIT; n += 1) await open('text/html');
    const page = await open('text/html,*/*;q=0.8');
    assert.deepEqual([page.status, page.headers['content-type']], [429, ['text/html; charset=utf-8']]);
    const seconds = page.headers['retry-after']?.[0] ?? '';
    assert.match(page.body, new RegExp(`<h1>Too many requests</h1>[^]*Try again in ${seconds} seconds`));
    errorOf(await open('*/*'), 429, 'rate_limited');
  });

  it('"mcp" counts calls of agents per person, over all grants and keys [limits.rate.authorization]', async () => {
    const mcp = (token: string): Promise<RawReply> =>
      call('POST /mcp', [`Authorization: Bearer ${token}`, 'Content-Type: application/json', 'Content-Length: 3']);
    const { token, userId } = testGateway.accessToken(['read', 'write']);
    const renewed = testGateway.accessToken(['read'], { sub: userId }).token;
    for (const one of [token, renewed]) assert.notEqual((await mcp(one)).status, 429);
    for (const one of [token, renewed]) errorOf(await mcp(one), 429, 'rate_limited');
    const other = testGateway.accessToken(['read'], {});
    assert.notEqual((await mcp(other.token)).status, 429, 'another person is not limited');
  });
});
