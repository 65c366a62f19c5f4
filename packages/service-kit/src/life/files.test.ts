import assert from 'node:assert/strict';
import { LIMITS } from '@wts/contracts';
import { connectionsWithin, openFilesMax } from './files.ts';
import { SetupError } from './setup-error.ts';

const quiet = { warn: () => undefined };

describe('files and connections', () => {
  it('are what was asked for where enough files may be opened', () => {
    const said: unknown[] = [];
    const log = { warn: (...line: unknown[]) => void said.push(line) };
    assert.equal(connectionsWithin(Infinity, { wanted: 18_000, filesEach: 2 }, log), 18_000);
    assert.equal(
      connectionsWithin(20_000, { wanted: LIMITS.connectionsMax, filesEach: 1 }, log),
      LIMITS.connectionsMax,
    );
    assert.deepEqual(said, []);
  });

  it('are fewer where fewer files may be opened, and the log says what to raise', () => {
    const said: unknown[][] = [];
    const max = connectionsWithin(
      1024,
      { wanted: 18_000, filesEach: 2 },
      { warn: (...line: unknown[]) => void said.push(line) },
    );
    assert.ok(max > 300 && max < 400, String(max));
    const [[fields, sentence]] = said as [[object, string]];
    assert.deepEqual(fields, { filesMax: 1024, connectionsMax: max, wanted: 18_000 });
    assert.match(sentence, /ulimit -n/);
  });

  it('never need more files than there are, those that are refused included', () => {
    for (const files of [500, 1_024, 4_096, 19_999, 65_536, 1_048_576]) {
      for (const wanted of [64, 1_000, 18_000, 100_000]) {
        for (const filesEach of [1, 2]) {
          const max = connectionsWithin(files, { wanted, filesEach }, quiet);
          const refused = Math.ceil(max * LIMITS.connectionsRefusedShare);
          const taken = max * filesEach + refused + LIMITS.filesReserved;
          assert.ok(max <= wanted && taken <= files + 1, `${taken} of ${files}`);
        }
      }
    }
  });

  it('are a reason not to start, said in a sentence, where nobody could be served', () => {
    assert.throws(
      () => connectionsWithin(256, { wanted: 18_000, filesEach: 1 }, quiet),
      (error) => error instanceof SetupError && /may open 256 files.*ulimit -n/.test(error.message),
    );
  });

  it('are known to this process', () => {
    assert.ok(openFilesMax() > 100);
  });
});
