import assert from 'node:assert/strict';
import { STREAM } from '@wts/contracts';
import { eventually, testNatsCluster } from '@wts/testkit';
import { connect } from 'nats';
import { chunk } from '../../test/entries.ts';
import { ensureStream, openPublisher } from './index.ts';

const ROUNDS = 20;

describe('the stream of a cluster of three servers', () => {
  it('stays one chain that can be read when two publishers always publish at the same time', async () => {
    await using stack = new AsyncDisposableStack();
    const servers = await testNatsCluster('cluster');
    for (const server of servers) stack.use(server);
    const [one, other] = await Promise.all(
      servers.slice(0, 2).map(async ({ url }) => stack.adopt(await connect({ servers: url }), (nc) => nc.close())),
    );
    assert.ok(one && other);
    await eventually(() => ensureStream(one, { replicas: 3 }).then(() => true));
    const publishers = [openPublisher(one), openPublisher(other)];
    let last = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all(publishers.map((publisher) => publisher.last()));
      const outcomes = await Promise.all(
        publishers.map((publisher, index) => publisher.publish(chunk(last, last + 1 + index))),
      );
      assert.deepEqual(outcomes.toSorted(), ['conflict', 'stored']);
      last += 1 + outcomes.indexOf('stored');
    }
    const { state, cluster } = await (await other.jetstreamManager()).streams.info(STREAM.name);
    assert.equal(state.messages, ROUNDS);
    assert.equal(cluster?.replicas?.length, 2);
  });
});
