import assert from 'node:assert/strict';
import { blocksOf, commandsOf, type Block } from '../documents/blocks.ts';
import { shapeOf } from '../documents/shape.ts';

const FENCE = '```';

function blockOf(language: string, ...lines: string[]): Block {
  const [block] = blocksOf('README.md', ['# Title', `${FENCE}${language}`, ...lines, FENCE].join('\n'));
  assert.ok(block);
  return block;
}

describe('the commands of a block', () => {
  it('have below them what they print', () => {
    const block = blockOf('console', '$ one', 'a', 'b', '$ two');
    assert.equal(block.line, 3);
    assert.deepEqual(commandsOf(block), [
      { text: 'one', output: 'a\nb\n' },
      { text: 'two', output: '' },
    ]);
  });

  it('go on after a backslash, inside quotes and in a here-document, and not after a comment', () => {
    const several = ['$ one \\', '  -d', "$ two '{", '  "a": 1', "}'", "$ cat <<'END'", "it's", 'END', 'out'];
    assert.deepEqual(
      commandsOf(blockOf('console', ...several)).map(({ text }) => text),
      ['one \\\n  -d', 'two \'{\n  "a": 1\n}\'', "cat <<'END'\nit's\nEND"],
    );
    assert.equal(commandsOf(blockOf('sh', "one  # the person's", '', 'two')).length, 2);
    assert.throws(() => commandsOf(blockOf('console', "$ one '")), /no end/);
    assert.throws(() => commandsOf(blockOf('console', 'one')), /before the first command/);
  });
});

describe('the shape of output', () => {
  const id = 'd78ee33d-6cdc-4206-9556-4032364a6e05';

  it('leaves out ids, keys, numbers and line breaks', () => {
    const shape = shapeOf('Ready in 6.8 s.\n{"id":"fd4c9873-…","items":[\n  {"n":1}],"rest":[…]}\nKey wts_iOpu…');
    assert.match(`Ready in 12 s. {"id":"${id}","items":[{"n":20}],"rest":[{"a":[1]}]}\nKey wts_HeAYbW`, shape);
  });

  it('has everything else', () => {
    assert.doesNotMatch(`{"id":"${id}","title":"b"}`, shapeOf(`{"id":"${id}","title":"a"}`));
    assert.doesNotMatch('{"id":"none"}', shapeOf('{"id":"fd4c9873-…"}'));
    assert.doesNotMatch('a\nb', shapeOf('a … b'));
    assert.doesNotMatch('answered null', shapeOf('answered 204'));
  });
});
