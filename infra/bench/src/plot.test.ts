import assert from 'node:assert/strict';
import { figure, plot, scale, type PlotLine } from './plot.ts';

const line = (of: Omit<PlotLine, 'points'>, costs: readonly number[]): PlotLine => ({
  ...of,
  points: costs.map((cost, index) => ({ size: 10 ** (index + 1), cost })),
});

describe('the plot', () => {
  const lines = [
    line({ name: 'one change', who: 'ours', unit: 'ms', axis: 'tasks' }, [1, 1, 2]),
    line({ name: 'one change', who: 'peer', unit: 'ms', axis: 'tasks' }, [8, 20, 900]),
    line({ name: 'memory', who: 'ours', unit: 'MB', axis: 'tasks' }, [30, 31, 33]),
    line({ name: 'page', who: 'ours', unit: 'ms', axis: 'groups' }, [3, 4, 9]),
  ];
  const svg = plot(lines, 'How <cost> grows', 'two cores');

  it('has a panel for each axis and unit, with the names of both axes', () => {
    assert.equal(svg.match(/<g transform/g)?.length, 3);
    for (const name of ['ms over tasks', 'MB over tasks', 'ms over groups']) assert.ok(svg.includes(`>${name}<`), name);
    for (const axis of ['tasks', 'groups']) assert.match(svg, new RegExp(`text-anchor="middle">${axis}<`));
  });

  it('distinguishes ours from the peer, also without colors', () => {
    assert.equal(svg.match(/class="line ours" d="M[\d. L]+"/g)?.length, 3);
    assert.equal(svg.match(/class="line peer" d="M[\d. L]+"/g)?.length, 1);
    assert.ok(svg.includes('>one change, ours<') && svg.includes('>one change, Strata<'));
    assert.match(svg, /\.peer\.line \{ stroke-dasharray/);
  });

  it('draws every point inside its panel', () => {
    for (const [, x, y] of svg.matchAll(/<circle[^>]* cx="([\d.-]+)" cy="([\d.-]+)"/g)) {
      assert.ok(Number(x) >= 0 && Number(x) <= 470, `x ${x}`);
      assert.ok(Number(y) >= 0 && Number(y) <= 320, `y ${y}`);
    }
    assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  });

  it('has a background in both color schemes, and escapes text', () => {
    assert.match(svg, /prefers-color-scheme: dark/);
    assert.match(svg, /<rect class="paper" width="940"/);
    assert.ok(svg.includes('How &lt;cost&gt; grows'));
  });

  it('leaves out zeros, which a logarithmic scale cannot show', () => {
    const withZeros = plot([line({ name: 'memory', who: 'ours', unit: 'MB', axis: 'tasks' }, [0, 5, 0])], 'title', '');
    assert.equal(withZeros.match(/<circle/g)?.length, 2, 'one point and its legend');
    assert.equal(
      plot([line({ name: 'memory', who: 'ours', unit: 'MB', axis: 'tasks' }, [0])], 'title', '').includes('<circle'),
      false,
    );
  });
});

describe('a scale', () => {
  it('encloses all values between powers of ten', () => {
    const { decades, of } = scale([3, 40, 500], 100, 0);
    assert.deepEqual(decades, [1, 10, 100, 1000]);
    assert.deepEqual([of(1), of(1000)], [100, 0]);
  });

  it('ends at a power of ten, and has two decades when all values are equal', () => {
    assert.deepEqual(scale([10, 1000], 0, 1).decades, [10, 100, 1000]);
    assert.deepEqual(scale([10], 0, 1).decades, [10, 100]);
  });

  it('has more ticks when there are few powers of ten', () => {
    assert.deepEqual(scale([1, 9], 0, 1).ticks, [1, 10, 2, 5]);
    assert.deepEqual(scale([1, 9_000], 0, 1).ticks, [1, 10, 100, 1_000, 10_000]);
  });

  it('has readable figures', () => {
    assert.deepEqual([0.001, 1, 1_000, 10_000, 1_000_000].map(figure), ['0.001', '1', '1000', '10 k', '1 M']);
  });
});
