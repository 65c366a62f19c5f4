import assert from 'node:assert/strict';
import { LIMITS } from '@wts/contracts';
import { connectionsWithin, openFilesMax } from './files.ts';
import { SetupError } from '../config/setup-error.ts';

const quiet = { warn: () => undefined };

describe('the connections that the files allow', () => {
  it('are the configured number where enough files may be opened', () => {
    const lines: unknown[] = [];
    const log = { warn: (...line: unknown[]) => void lines.push(line) };
    assert.equal(connectionsWithin(Infinity, { wanted: 18_000, filesEach: 2 }, log), 18_000);
    assert.equal(
      connectionsWithin(20_000, { wanted: LIMITS.connectionsMax, filesEach: 1 }, log),
      LIMITS.connectionsMax,
    );
    assert.deepEqual(lines, []);
  });

  it('are fewer where fewer files may be opened, and the log names the limit to raise', () => {
    const lines: unknown[][] = [];
    const max = connectionsWithin(
      1024,
      { wanted: 18_000, filesEach: 2 },
      { warn: (...line: unknown[]) => void lines.push(line) },
    );
    assert.ok(max > 300 && max < 400, String(max));
    const [[fields, sentence]] = lines as [[object, string]];
    assert.deepEqual(fields, { filesMax: 1024, connectionsMax: max, wanted: 18_000 });
    assert.match(sentence, /ulimit -n/);
  });

  it('need at most the files that may be opened, with refused connections included', () => {
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

  it('are an error at the start where they are too few', () =>
    assert.throws(
      () => connectionsWithin(256, { wanted: 18_000, filesEach: 1 }, quiet),
      (error) => error instanceof SetupError && /may open 256 files.*ulimit -n/.test(error.message),
    ));

  it('are computed from the limit of this process', () => assert.ok(openFilesMax() > 100));
});
