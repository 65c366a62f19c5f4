import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../src/processes/launch.ts';
import { boundLogs, endOf, lastLines } from '../src/processes/logs.ts';
import { freePort } from '../src/processes/ports.ts';
import { SupervisedProcess } from '../src/processes/supervised.ts';
import { scratch } from './scratch.ts';
import { until } from './until.ts';

const SERVICE = `
  import { createServer } from 'node:http';
  console.log('begin');
  if (process.env.FAULT) { console.log(process.env.FAULT); process.exit(1); }
  process.on('disconnect', () => process.exit(0));
  createServer((_request, response) => response.end('{}')).listen(Number(process.env.PORT), '127.0.0.1');
`;

interface Options {
  readonly restarts: boolean;
  readonly fault?: string;
  readonly crashes?: string[];
  readonly restarted?: string[];
  readonly mayRestart?: () => boolean;
}

async function supervised(options: Options) {
  const directory = scratch();
  const port = await freePort();
  const log = join(directory, 'log');
  return new SupervisedProcess({
    name: 'example',
    url: `http://127.0.0.1:${port}`,
    log,
    restarts: options.restarts,
    mayRestart: options.mayRestart ?? (() => true),
    launch: () =>
      launch({
        name: 'example',
        command: process.execPath,
        args: ['--input-type=module', '-e', SERVICE],
        env: { PORT: String(port), ...(options.fault === undefined ? {} : { FAULT: options.fault }) },
        log,
        channel: true,
      }),
    onCrash: (text) => options.crashes?.push(text),
    onRestarted: (name) => options.restarted?.push(name),
  });
}

describe('a supervised service', () => {
  it('that crashes is restarted at the same address, and the message has the last lines of its log', async () => {
    const crashes: string[] = [];
    const restarted: string[] = [];
    await using service = await supervised({ restarts: true, crashes, restarted });
    await service.start();
    await service.untilReady(10_000);
    const first = service.pid;
    await service.kill();
    await until('it runs again', () => restarted.length === 1);
    notEqual(service.pid, first);
    deepEqual(crashes, ['example exited (SIGKILL). It starts again in 0.2 s. The last lines of its log:\n    begin']);
    equal((await fetch(service.url)).status, 200);
  });

  it('that cannot start is an error after a few attempts, with the last lines of its log', async () => {
    await using service = await supervised({ restarts: true, fault: 'PORT is missing' });
    await service.start();
    await rejects(service.untilReady(10_000), {
      name: 'UserError',
      message: /example service exited.*exit code 1[^]*PORT is missing/,
    });
  });

  it('reports only lines of the process that crashed, not of an earlier one', async () => {
    const crashes: string[] = [];
    await using service = await supervised({ restarts: true, crashes });
    writeFileSync(service.log, 'a line of an earlier run\n');
    await service.start();
    await service.untilReady(10_000);
    await service.kill();
    await until('the crash is reported', () => crashes.length === 1);
    match(crashes[0] ?? '', /The last lines of its log:\n {4}begin$/);
  });

  it('is neither reported nor started again when it crashes while everything stops', async () => {
    const crashes: string[] = [];
    let asked = 0;
    const mayRestart = () => {
      asked += 1;
      return false;
    };
    await using service = await supervised({ restarts: true, crashes, mayRestart });
    await service.start();
    await service.untilReady(10_000);
    await service.kill();
    await until('it was asked', () => asked === 1);
    deepEqual([service.pid, crashes], [null, []]);
  });

  it('is not restarted after stop()', async () => {
    const crashes: string[] = [];
    const service = await supervised({ restarts: true, crashes });
    await service.start();
    await service.untilReady(10_000);
    await service.stop();
    deepEqual([service.pid, crashes], [null, []]);
  });
});

describe('logs', () => {
  it('are bounded, with one older generation', () => {
    const directory = scratch();
    const [big, small] = [join(directory, 'big.log'), join(directory, 'small.log')];
    writeFileSync(big, `${'x'.repeat(1023)}\n`.repeat(33 * 1024));
    writeFileSync(small, 'one\ntwo\nthree\n');
    boundLogs(directory);
    deepEqual([endOf(big), endOf(small), endOf(`${big}.1`)], [0, 14, 33 * 1024 * 1024]);
    ok(!existsSync(`${small}.1`));
    equal(lastLines(small, 2), 'two\nthree');
    equal(lastLines(small, 3, 4), 'two\nthree');
    equal(lastLines(join(directory, 'none.log'), 2), '');
    match(lastLines(`${big}.1`, 1), /^x+$/);
  });
});
