import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compareVersions } from './against/compare.ts';
import { versionOf, type Version } from './against/version.ts';
import { BENCHMARK_NAMES, BENCHMARKS, type Benchmark } from './benchmarks.ts';
import type { BenchmarkContext } from './context.ts';
import { INSPECT_OPTION } from './memory.ts';
import type { Peer } from './peer.ts';
import { COMMIT_TIMES } from './rows/live.ts';
import { SMALLEST } from './sizes.ts';
import { openSystem, type MeasuredSystem } from './system.ts';

/** An honest person makes each kind of request, changes take more than a tick of a processor, and a load with a pace makes one. */
const SECONDS: Readonly<Record<string, number>> = {
  neighbor: 0.5,
  alone: 0.5,
  traces: 0.1,
  follower: 0.05,
  live: 0.05,
  webhooks: 0.05,
  growth: 0.05,
};
/** Each client makes one request. */
const ROUND = { rounds: 1, seconds: 0.001, sizes: SMALLEST, print: () => {} } as const;
/** A version is asked once before it is measured. */
const AGAINST = { ...ROUND, sizes: { ...SMALLEST, warmUpSeconds: ROUND.seconds } };
/** These take seconds for each contender. */
const WITHOUT_PEER: readonly string[] = ['growth', 'stalled'];
/** These read or work off every task of the workspace, and the others write thousands. */
const FIRST: readonly string[] = ['purge', 'repeats', 'transfer', 'growth', 'graphql'];
const NAMES = BENCHMARK_NAMES.toSorted((one, other) => Number(FIRST.includes(other)) - Number(FIRST.includes(one)));
/** A figure that nothing was measured for. */
const EMPTY = /NaN|Infinity|undefined/;

describe('every benchmark runs, for a moment', () => {
  const opened = new AsyncDisposableStack();
  let system: MeasuredSystem;

  before(async () => {
    system = opened.use(await openSystem(false, { nodeOptions: INSPECT_OPTION, postgres: COMMIT_TIMES }));
  });

  after(() => opened.disposeAsync());

  /** The same system, so that the code for a peer runs too; the peer itself is not installed. */
  const peerOf = ({ ours }: MeasuredSystem): Peer => ({
    ...ours,
    name: 'itself',
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });

  for (const name of NAMES) {
    it(`${name} measures every row`, async () => {
      const { measure }: Benchmark = BENCHMARKS[name];
      const peer = WITHOUT_PEER.includes(name) ? null : peerOf(system);
      // The same system, whose services have no other settings.
      const openOther = async (): Promise<MeasuredSystem> => ({ ...system, [Symbol.asyncDispose]: async () => {} });
      const seconds = SECONDS[name] ?? ROUND.seconds;
      const context: BenchmarkContext = { ...ROUND, seconds, ...system, peer, openOther };
      const { rows } = await measure(context);
      assert.notEqual(rows.length, 0);
      for (const { what, ours, against, ratio } of rows) {
        assert.ok(what !== '' && ours !== '', `an empty row: ${what}`);
        assert.doesNotMatch([ours, against, ratio].join(' '), EMPTY, what);
      }
    });
  }

  const versionAt = (name: string, baseUrl: string): Promise<Version> => {
    const { apiKey, userId, workspaceId, database, jwt, services } = system.testSystem;
    return versionOf(name, process.pid, async () => ({
      baseUrl,
      apiKey,
      userId,
      workspaceId,
      jwt,
      databaseUrl: database.url,
      services: Object.fromEntries(services.map((one) => [one.name, { pid: one.pid, log: one.log }])),
    }));
  };

  it('--against measures two versions', async () => {
    const { baseUrl } = system.testSystem;
    const versions = [await versionAt('ours', baseUrl), await versionAt('theirs', baseUrl)] as const;
    const { rows, left, failed } = await compareVersions(...versions, { ...AGAINST, names: ['hop', 'bootstrap'] });
    assert.equal(failed, false, left.join('\n'));
    const refused = left.filter((line) => line.includes('cannot serve'));
    assert.deepEqual(refused, []);
    for (const { what, ours, against, ratio } of rows)
      assert.doesNotMatch([ours, against, ratio].join(' '), EMPTY, what);
  });

  it('--against names what an earlier version cannot serve', async () => {
    await using server = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [ours, theirs] = [
      await versionAt('ours', system.testSystem.baseUrl),
      await versionAt('an earlier version', `http://127.0.0.1:${port}`),
    ];
    const { rows, left, failed } = await compareVersions(ours, theirs, { ...AGAINST, names: ['hop', 'growth'] });
    assert.deepEqual([rows, failed], [[], false]);
    assert.deepEqual(left, [
      'growth is not compared: it is a series of the benchmarks above.',
      'an earlier version cannot serve hop, small reads: a read got status 404',
    ]);
  });
});
