import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { generateApiKey, generateServiceKey, parsePrivateKey, tokenMinter, servicePrincipal } from '@wts/access';
import jwt from 'jsonwebtoken';
import { createLogger, type Logger } from './logger.ts';

/** A logger and everything it has written. */
function recorder(level = 'trace'): { log: Logger; text: () => string; lines: () => Record<string, unknown>[] } {
  const written: string[] = [];
  const log = createLogger({ name: 'demo', level, destination: { write: (line: string) => void written.push(line) } });
  return {
    log,
    text: () => written.join(''),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const apiKey = generateApiKey('wts_').token;
const session = jwt.sign({ sub: 'ann' }, 'a shared secret of 32 bytes or more');
const internal = tokenMinter({ from: 'demo', to: 'demo', key: parsePrivateKey(generateServiceKey().privateKey) })(
  servicePrincipal('demo'),
);
const secrets: Readonly<Record<string, string>> = {
  'an API key': apiKey,
  'an API key with another prefix': generateApiKey('acme_').token,
  'a session': session,
  'an internal token': internal,
  'a refresh token': `wtsr_${randomBytes(32).toString('hex')}`,
  'a webhook secret': `whsec_${randomBytes(24).toString('base64')}`,
};

describe('a line of log', () => {
  it('is one JSON object with time, level by name, service and message', () => {
    const { log, lines } = recorder();
    log.warn({ attempt: 3 }, 'cannot connect to NATS');
    const [line] = lines();
    assert.match(String(line?.time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(
      { ...line, time: '' },
      { level: 'warn', time: '', service: 'demo', attempt: 3, msg: 'cannot connect to NATS' },
    );
  });

  describe('never shows [never.secret-in-clear]', () => {
    for (const [what, secret] of Object.entries(secrets)) {
      it(`${what}, anywhere`, () => {
        const { log, text } = recorder();
        const error = new Error(`could not use ${secret}`, { cause: new Error(`because of "${secret}"`) });
        log.error({ err: error }, `failed with ${secret}`);
        log.info({ url: `/sync/ws?after=1&token=${secret}`, path: `/x/${secret}`, list: [secret, { deep: secret }] });
        log.info({ header: `Bearer ${secret}`, [secret]: true });
        log.child({ who: secret, token: secret }).info('%s', secret);
        assert.ok(!text().includes(secret), text());
        assert.ok(text().includes('[redacted]'));
      });
    }

    it('the value of a field with the name of a secret, at any depth', () => {
      const names = ['token', 'accessToken', 'refresh_token', 'authorization', 'Authorization', 'set-cookie', 'cookie'];
      names.push('password', 'secret', 'apiKey', 'API_KEY', 'client_secret', 'x-wts-principal', 'databaseUrl');
      for (const name of names) {
        const { log, text } = recorder();
        log.info({
          [name]: 'hunter2',
          a: { [name]: 'hunter2', b: { [name]: ['hunter2'] } },
          list: [{ [name]: 'hunter2' }],
        });
        log.child({ [name]: 'hunter2' }).info('child');
        assert.ok(!text().includes('hunter2'), `${name}: ${text()}`);
      }
    });

    it('passwords in URLs of every kind', () => {
      const { log, text } = recorder();
      log.info({ to: 'postgres://wts:hunter2@db:5432/wts' }, 'nats://u:hunter2@nats:4222, redis://:hunter2@r');
      assert.ok(!text().includes('hunter2'), text());
      assert.ok(text().includes('db:5432'));
    });

    it('basic credentials and parameters with secrets', () => {
      const { log, text } = recorder();
      log.info({
        a: 'Basic aHVudGVyMjpodW50ZXIy',
        b: 'https://x/cb?code=hunter2&state=1',
        c: '?client_secret=hunter2',
      });
      assert.ok(!/hunter2|aHVudGVy/.test(text()), text());
    });

    it('fields that drivers add to their errors', () => {
      const { log, text } = recorder();
      const error = Object.assign(new Error('duplicate key'), {
        code: '23505',
        query: 'insert ...',
        parameters: ['hunter2'],
        detail: 'Key (email)=(hunter2) already exists.',
        headers: { cookie: 'hunter2' },
      });
      log.error({ err: error });
      assert.ok(!text().includes('hunter2'), text());
      assert.ok(text().includes('23505'));
    });
  });

  it('keeps ids, routes and texts that resemble secrets', () => {
    const { log, text } = recorder();
    const harmless = [
      '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10',
      'wts_http_request_duration_seconds_bucket',
      'wts_gateway',
      'POST /api/workspaces',
      'the token has expired',
      'http://127.0.0.1:4000/health',
      'at Object.<anonymous> (file:///srv/packages/service-kit/src/observe/logger.ts:12:34)',
    ];
    for (const value of harmless) log.info({ value });
    for (const value of harmless) assert.ok(text().includes(value), value);
  });

  it('does not change the object that was logged', () => {
    const { log } = recorder();
    const fields = { token: 'hunter2', nested: { password: 'hunter2' } };
    log.info(fields);
    assert.deepEqual(fields, { token: 'hunter2', nested: { password: 'hunter2' } });
  });

  it('leaves out data that is nested too deep, and bytes', () => {
    const { log, text } = recorder();
    log.info({ a: { b: { c: { d: { e: { f: 'far down' } } } } }, body: Buffer.from('raw bytes') });
    assert.ok(!text().includes('far down'));
    assert.ok(text().includes('[bytes]'));
  });

  it('has no text that an error quotes because it could not be read', () => {
    const { log, text, lines } = recorder();
    const content = 'content of a record';
    for (const received of [content, `{"title": "${content}" "x"}`, `[${content}]`, `"a" ${content} "b"`]) {
      try {
        JSON.parse(received);
        assert.fail('it is JSON');
      } catch (err) {
        log.warn({ err, cause: new Error('a message', { cause: err }) }, 'cannot be read');
      }
    }
    // As the client of NATS does.
    log.warn({ err: new Error(`parse error [12]: ${content}\nand more of the ${content}`) }, 'cannot be read');
    assert.ok(!text().includes('content'), text());
    const [first] = lines() as { err: { message: string; stack: string } }[];
    assert.match(first?.err.message ?? '', /is not valid JSON$/);
    assert.match(first?.err.stack ?? '', /logger\.test/);
  });

  it('has the causes of an error up to a bound, as the chain may be endless', () => {
    const { log, lines } = recorder();
    const loop = new Error('outer');
    loop.cause = new Error('inner', { cause: loop });
    log.error({ err: loop }, 'failed');
    log.error({ err: 'a text' }, 'failed');
    const { err } = lines()[0] as { err: { message: string; stack: string; cause: { message: string } } };
    assert.equal(err.message, 'outer');
    assert.equal(err.cause.message, 'inner');
    assert.match(err.stack, /logger\.test/);
  });
});
