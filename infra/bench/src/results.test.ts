import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keep, markdown, merge, type PartResult } from './results.ts';

const ORDER = ['mutate', 'live', 'growth'];

function result(what: string, more: Partial<PartResult> = {}): PartResult {
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

describe('results made in parts', () => {
  it('take the place of the same part, and leave the others', () => {
    const known = merge({ parts: {} }, { live: result('live'), mutate: result('mutate') }, ORDER);
    const merged = merge(known, { live: result('live again') }, ORDER);
    assert.deepEqual(Object.keys(merged.parts), ['mutate', 'live']);
    assert.equal(merged.parts['live']?.rows[0]?.what, 'live again');
    assert.equal(merged.parts['mutate']?.rows[0]?.what, 'mutate');
  });

  it('lose a part that is measured no more', () => {
    const merged = merge({ parts: { former: result('former') } }, { live: result('live') }, ORDER);
    assert.deepEqual(Object.keys(merged.parts), ['live']);
  });

  it('are kept as three files that belong together', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bench-results-'));
    try {
      const line = { name: 'page', who: 'ours', unit: 'ms', axis: 'groups', points: [{ size: 1, cost: 2 }] } as const;
      await keep({ growth: result('growth', { lines: [line] }) }, ORDER, folder);
      await keep({ mutate: result('mutate') }, ORDER, folder);
      assert.deepEqual((await readdir(folder)).toSorted(), ['growth.svg', 'sync.json', 'sync.md']);
      const page = await readFile(join(folder, 'sync.md'), 'utf8');
      assert.ok(page.indexOf('| mutate') < page.indexOf('| growth'), 'in the order of the table');
      assert.match(await readFile(join(folder, 'growth.svg'), 'utf8'), /page, ours/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the page of results', () => {
  const page = markdown({
    parts: {
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

  it('says what is met and what is short, and counts only what has a goal', () => {
    assert.match(page, /\*\*1 of 2 goals met\.\*\*/);
    assert.match(page, /\| mutate .* ✓ met/);
    assert.match(page, /\| live .* ✗ SHORT/);
  });

  it('says where others had a say', () => {
    assert.match(page, /\*\*Not quiet\*\*: .* during live\./);
  });

  it('names machine and versions once, and how each part was measured', () => {
    assert.equal(page.match(/Machine: 2 cores/g)?.length, 1);
    assert.match(page, /\| mutate +\| 2026-01-02 03:04 \| abc1234 \| 3 of 5 s +\| 61 s +\| 1 % +\| `npm run bench` \|/);
  });
});
