import { eventually } from '@wts/testkit';
import type { Response } from 'express';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { sendSnapshot } from './send.ts';
import { Spool, SpoolBudget } from './spool.ts';

const STALLED_MS = 100;

/** One answer on a server of its own, and the promise of its sending. */
async function answering(
  spool: Spool,
  test: (answer: IncomingMessage, sent: Promise<void>) => Promise<void>,
  firstLine = 'first\n',
): Promise<void> {
  const reader = Object.assign(spool.join(), { person: 'ada' });
  const snapshot = {
    encoding: 'identity' as const,
    content: { crc: 0, bytes: 0 },
    stalledMs: STALLED_MS,
    turn: () => undefined,
    read: (own: typeof reader) => spool.read(own),
  };
  const sending = Promise.withResolvers<void>();
  const server = createServer((_req, res) => {
    sending.resolve(sendSnapshot(res as Response, { snapshot, reader }, firstLine));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const sent = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await test(answer, sending.promise);
  } finally {
    server.closeAllConnections();
    server.close();
    await spool.dispose();
  }
}

describe('sending a snapshot', () => {
  it('sends each piece when it is ready', async () => {
    const spool = new Spool(new SpoolBudget(), 'ada');
    await answering(spool, async (answer, sent) => {
      const pieces = answer.iterator({ destroyOnReturn: false });
      assert.equal(String((await pieces.next()).value), 'first\n');
      for (const line of ['second\n', 'third\n']) {
        await spool.write(Buffer.from(line));
        assert.equal(String((await pieces.next()).value), line);
      }
      spool.finish();
      assert.equal((await pieces.next()).done, true);
      await sent;
    });
  });

  it('sends the rest after a first line that fills the connection', async () => {
    const spool = new Spool(new SpoolBudget(), 'ada');
    // Like that of a person in thousands of groups.
    const firstLine = `${'g'.repeat(200_000)}\n`;
    const test = async (answer: IncomingMessage, sent: Promise<void>): Promise<void> => {
      let received = '';
      answer.on('data', (piece: Buffer) => (received += String(piece)));
      await eventually(() => received.length === firstLine.length);
      await spool.write(Buffer.from('second\n'));
      spool.finish();
      await once(answer, 'end');
      assert.equal(received, `${firstLine}second\n`);
      await sent;
    };
    await answering(spool, test, firstLine);
  });

  it('closes the connection of a client that receives nothing', async () => {
    const spool = new Spool(new SpoolBudget(), 'ada');
    for (let index = 0; index < 32; index += 1) await spool.write(Buffer.alloc(512 * 1024, 'x'));
    spool.finish();
    await answering(spool, async (answer, sent) => {
      await sent;
      await assert.rejects(text(answer), { code: 'ECONNRESET' });
    });
  });
});
