import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { API_VERSION, LIMITS, type ErrorBody } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import { startDemo, type Running } from './running-demo.ts';
import { raw, type RawAnswer } from './raw.ts';

/** The least that can be set. */
const MAX = LIMITS.connectionsMin;
const GET = 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n';
const UPGRADE = 'GET /keep HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

describe('the connections of a process', () => {
  let demo: Running;
  let held: Socket[];
  beforeEach(async () => {
    demo = await startDemo({ CONNECTIONS_MAX: String(MAX) });
    held = [];
  });
  afterEach(async () => {
    for (const socket of held) socket.destroy();
    await demo.service.close();
  });

  async function hold(count: number): Promise<void> {
    const sockets = Array.from({ length: count }, () => connect(demo.service.port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    held.push(...sockets);
  }

  const ask = (text = GET): Promise<RawAnswer> => raw({ port: demo.service.port, parts: [text], until: 'close' });

  function assertToldToComeAgain(answer: RawAnswer): void {
    assert.equal(answer.status, 503, answer.text);
    const body = JSON.parse(answer.body) as ErrorBody;
    assert.deepEqual([body.ok, body.code], [false, 'unavailable']);
    assert.match(String(body.message), /connections/);
    assert.match(answer.headers['retry-after'] ?? '', /^[1-5]$/);
    assert.equal(answer.headers['connection'], 'close');
    assert.equal(answer.headers['api-version'], API_VERSION);
    assert.equal(answer.headers['x-request-id'], body.requestId);
  }

  it('are bounded: one more gets 503 with Retry-After, and open connections are served [never.unbounded]', async () => {
    await hold(MAX);
    const since = Date.now();
    assertToldToComeAgain(await ask());
    assertToldToComeAgain(await ask(UPGRADE));
    const [first] = held;
    first?.write(GET);
    const [answer] = (await once(first!, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
    const refusals = demo.lines().filter(({ msg }) => String(msg).startsWith('too many connections'));
    const warnings = refusals.filter(({ level }) => level === 'warn').length;
    // One in ten seconds.
    assert.ok(warnings >= 1 && warnings <= 1 + (Date.now() - since) / 10_000, `${warnings} warnings`);
  });

  it('are available again after they close', async () => {
    await hold(MAX);
    assertToldToComeAgain(await ask());
    for (const socket of held.splice(0, 2)) socket.destroy();
    const answer = await eventually(async () => {
      const text = await raw({ port: demo.service.port, parts: [GET] });
      return text.status === 200 ? text : null;
    });
    assert.equal(answer.status, 200);
  });

  it('include upgraded ones while they are open', async () => {
    await hold(MAX - 1);
    const upgraded = connect(demo.service.port, '127.0.0.1');
    held.push(upgraded);
    upgraded.write(UPGRADE);
    await once(upgraded, 'data');
    assertToldToComeAgain(await ask());
  });

  it('do not fail /health of a full server, only /ready', async () => {
    await hold(MAX);
    assert.match((await ask('GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).text, /^HTTP\/1\.1 200 /);
    assertToldToComeAgain(await ask('GET /ready HTTP/1.1\r\nHost: a\r\n\r\n'));
  });

  it('over the bound that send nothing are closed soon, and their number is bounded [never.unbounded]', async () => {
    await hold(MAX);
    await hold(40);
    const extra = held.splice(MAX);
    await Promise.all(extra.map(async (socket) => socket.closed || (await once(socket.resume(), 'close'))));
    assert.ok(extra.every(({ bytesRead }) => bytesRead === 0));
    const [first] = held;
    first?.write(GET);
    assert.match(String((await once(first!, 'data'))[0]), /^HTTP\/1\.1 200 /);
  });
});
