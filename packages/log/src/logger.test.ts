import assert from 'node:assert/strict';
import { seldomWarning } from './logger.ts';

describe('a warning of what happens often', () => {
  it('comes once in ten seconds, and the others are debug lines', () => {
    const lines: [string, object][] = [];
    const line =
      (level: string) =>
      (fields: object): void =>
        void lines.push([level, fields]);
    const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
    let nowMs = 5;
    const warn = seldomWarning(log, 'unreadable', () => nowMs);
    for (const atMs of [5, 6, 10_004, 10_005, 10_006]) {
      nowMs = atMs;
      warn({ atMs });
    }
    assert.deepEqual(
      lines.map(([level]) => level),
      ['warn', 'debug', 'debug', 'warn', 'debug'],
    );
    assert.deepEqual(lines[3]?.[1], { atMs: 10_005 });
  });
});
