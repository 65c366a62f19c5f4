import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keep, markdown, merge, type KeptResult } from './results.ts';

const ORDER = ['mutate', 'live', 'growth'];

function result(what: string, more: Partial<KeptResult> = {}): KeptResult {
  return {
    at: '2026-01-02T03:04:05.000Z',
    command: 'npm run bench',
    machine: '2 cores',
    versions: 'Node 26',
    commit: 'abc1234',
    rounds: 3,
    seconds: 5,
    tookSeconds: 61.4,
    othersShare: 0.01,
    rows: [{ what, ours: '10/s', against: 'peer 1/s', ratio: '10x', goal: '>= 8x', isReached: true }],
    raw: { ours: [10] },
    ...more,
  };
}

describe('kept results', () => {
  it('are replaced by newer results of the same benchmark only', () => {
    const kept = merge({ benchmarks: {} }, { live: result('live'), mutate: result('mutate') }, ORDER);
    const merged = merge(kept, { live: result('live again') }, ORDER);
    assert.deepEqual(Object.keys(merged.benchmarks), ['mutate', 'live']);
    assert.equal(merged.benchmarks['live']?.rows[0]?.what, 'live again');
    assert.equal(merged.benchmarks['mutate']?.rows[0]?.what, 'mutate');
  });

  it('are dropped when the benchmark no longer exists', () => {
    const merged = merge({ benchmarks: { former: result('former') } }, { live: result('live') }, ORDER);
    assert.deepEqual(Object.keys(merged.benchmarks), ['live']);
  });

  it('are written as two files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-results-'));
    try {
      const line = { name: 'page', who: 'ours', unit: 'ms', axis: 'groups', points: [{ size: 1, cost: 2 }] } as const;
      await keep({ growth: result('growth', { lines: [line] }) }, ORDER, folder);
      await keep({ mutate: result('mutate') }, ORDER, folder);
      assert.deepEqual((await readdir(folder)).toSorted(), ['sync.json', 'sync.md']);
      const page = await readFile(join(folder, 'sync.md'), 'utf8');
      assert.ok(page.indexOf('| mutate') < page.indexOf('| growth'), 'in the order of the table');
      assert.match(page, /page, ms +\| ours/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the page of results', () => {
  const page = markdown({
    benchmarks: {
      mutate: result('mutate'),
      live: result('live', {
        othersShare: 0.4,
        rows: [
          { what: 'live', ours: '1', against: '', ratio: '', goal: '0', isReached: false },
          { what: 'more', ours: '1', against: '', ratio: '', goal: '', isReached: null },
        ],
      }),
    },
  });

  it('shows met and missed goals, and counts only rows with a goal', () => {
    assert.match(page, /\*\*1 of 2 goals met\.\*\*/);
    assert.match(page, /\| mutate .* ✓ met/);
    assert.match(page, /\| live .* ✗ MISSED/);
  });

  it('names benchmarks that were disturbed by other programs', () => {
    assert.match(page, /\*\*Not quiet\*\*: .* during live\./);
  });

  it('names machine and versions once, and the conditions of each benchmark', () => {
    assert.equal(page.match(/Machine: 2 cores/g)?.length, 1);
    assert.match(page, /\| mutate +\| 2026-01-02 03:04 \| abc1234 \| 3 of 5 s +\| 61 s +\| 1 % +\| `npm run bench` \|/);
  });
});
