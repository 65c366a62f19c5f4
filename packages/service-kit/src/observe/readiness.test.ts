import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '@wts/contracts';
import { createLogger } from './logger.ts';
import { Readiness } from './readiness.ts';
import { SERVICE_LIMITS } from '../limits.ts';

interface Watched {
  readonly readiness: Readiness;
  readonly lines: () => { level: string; msg: string }[];
}

function watched(): Watched {
  const written: string[] = [];
  const log = createLogger({ name: 'demo', destination: { write: (line: string) => void written.push(line) } });
  return {
    readiness: new Readiness(log),
    lines: () => written.map((line) => JSON.parse(line) as { level: string; msg: string }),
  };
}

const isNotReady = (fault: unknown): boolean => fault instanceof Fault && fault.code === 'unavailable';

describe('readiness', () => {
  it('succeeds when every check passes, and when there is none', async () => {
    const { readiness } = watched();
    await readiness.check();
    readiness.add('one', async () => {});
    readiness.add('two', async () => true);
    await readiness.check();
  });

  it('fails when one check fails, and shows not which', async () => {
    const { readiness, lines } = watched();
    readiness.add('postgres', () => Promise.reject(new Error('db:5432 refused')));
    await assert.rejects(readiness.check(), (fault) => {
      assert.ok(fault instanceof Fault);
      assert.equal(fault.publicMessage, undefined);
      return isNotReady(fault);
    });
    assert.deepEqual(
      lines().map(({ level, msg }) => [level, msg]),
      [['warn', 'not ready']],
    );
  });

  it('fails in time when a check hangs, and aborts the check', async () => {
    const { readiness } = watched();
    let aborted = false;
    readiness.add('hangs', (signal) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    });
    await assert.rejects(Promise.race([readiness.check(), sleep(SERVICE_LIMITS.readyTimeoutMs + 400)]), isNotReady);
    assert.ok(aborted);
  });

  it('runs the checks once for many probes', async () => {
    const { readiness } = watched();
    let checks = 0;
    readiness.add('postgres', async () => {
      checks += 1;
    });
    await Promise.all(Array.from({ length: 100 }, () => readiness.check()));
    assert.equal(checks, 1);
  });

  it('fails until a restart after `fail`, which is logged once', async () => {
    const { readiness, lines } = watched();
    readiness.fail('relay', 'the stream is of another epoch');
    readiness.fail('relay', 'again');
    await assert.rejects(readiness.check(), isNotReady);
    assert.equal(lines().filter(({ level }) => level === 'error').length, 1);
  });

  it('fails when draining begins', async () => {
    const { readiness } = watched();
    readiness.drain();
    await assert.rejects(readiness.check(), isNotReady);
  });
});
