import assert from 'node:assert/strict';
import { ShownProgress, type ProgressForm } from './progress.ts';

/** What is written during an import of 1,000 records in 25 seconds, with a note in the middle. */
function written(form: ProgressForm, columns = 80): string[] {
  const texts: string[] = [];
  let now = 0;
  using progress = new ShownProgress({ form, columns, write: (text) => texts.push(text), clock: () => now });
  progress.stage('import', 1_000);
  for (let second = 1; second <= 25; second += 1) {
    now = second * 1_000;
    progress.advance(40);
    if (second === 12) progress.note('connection lost\u001B]52;');
  }
  return texts;
}

describe('progress', () => {
  it('is a bar with the rate and the rest on a terminal', () => {
    const texts = written('bar');
    assert.equal(texts[10], '\r\u001B[2K[########------------] import: 400 of 1,000, 40/s, 15 s left');
    assert.equal(written('bar', 40)[10], '\r\u001B[2K[########------------] import: 400 of 1');
    assert.ok(texts.includes('\r\u001B[2Kconnection lost␛]52;\n'), JSON.stringify(texts[13]));
  });

  it('is a line every ten seconds elsewhere', () =>
    assert.deepEqual(
      written('lines').filter((text) => text.startsWith('import')),
      ['import: 400 of 1,000, 40/s, 15 s left\n', 'import: 800 of 1,000, 40/s, 5 s left\n'],
    ));

  it('is one JSON record a second for programs, and nothing where none is asked for', () => {
    const records = written('jsonl').map((text) => JSON.parse(text) as object);
    assert.deepEqual(records[1], { stage: 'import', done: 40, total: 1000, perSecond: 40 });
    assert.equal(records.length, 27);
    assert.deepEqual(written('none'), []);
  });
});
