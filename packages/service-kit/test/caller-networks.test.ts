import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HEADERS } from '@wts/contracts';
import { minterFor, readerFor } from '@wts/testkit';
import { createServiceClient } from '../src/call/index.ts';
import { CallerNetworks } from '../src/fairness/index.ts';
import { createLogger } from '../src/observe/index.ts';
import { readInternalCall } from '../src/routes/index.ts';
import { ann, demo as api, NAME, reader } from './demo.ts';
import { as } from './running-demo.ts';

describe('the network of a caller', () => {
  it('is read only beside a token that is valid for the operation', () => {
    const calls = { readToken: readerFor(NAME), networks: new CallerNetworks() };
    const call = (headers: IncomingHttpHeaders): void =>
      void readInternalCall({ ...headers, [HEADERS.network]: '203.0.113.7' }, api.read, calls);
    assert.throws(() => call({}));
    assert.throws(() => call(as(ann, 'gateway', 'another service')));
    assert.throws(() => call(as(ann, 'graph')));
    assert.equal(calls.networks.find('ann'), undefined);
    call(as(ann));
    assert.equal(calls.networks.find('ann'), '203.0.113.7');
  });

  it('is sent with the calls that a service makes for this person, and with no others', async () => {
    const received: IncomingHttpHeaders[] = [];
    const server = createServer((req, res) => {
      received.push(req.headers);
      res.end('{"ok":true}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const networks = new CallerNetworks();
    const client = createServiceClient({
      name: NAME,
      urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
      mintToken: minterFor('gateway', NAME),
      self: 'gateway',
      log: createLogger({ name: 'caller', level: 'silent' }),
      networks,
    });
    networks.record('ann', '203.0.113.7');
    networks.record('ann', undefined);
    for (const principal of [ann, reader]) await client.call(api.read, { principal, params: { name: 'a' } });
    assert.deepEqual(
      received.map((headers) => headers[HEADERS.network]),
      ['203.0.113.7', undefined],
    );
    await client.close();
    server.closeAllConnections();
    server.close();
  });
});
