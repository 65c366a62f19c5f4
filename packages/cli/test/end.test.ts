import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { scratch } from './scratch.ts';

const SRC = join(import.meta.dirname, '..', 'src');
const INDEX = pathToFileURL(join(SRC, 'index.ts')).href;

describe('the program', () => {
  const folder = scratch('end');
  const node = (args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess =>
    spawn(process.execPath, args, { cwd: folder, env: { WTS_CONFIG_DIR: folder, ...env } });

  it('ends at a second SIGTERM also while it waits for the writer of a named pipe', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const child = node([
      '--input-type=module',
      '--eval',
      `import { readFile } from 'node:fs/promises';
      import { processIo } from ${JSON.stringify(INDEX)};
      processIo(process);
      void readFile(${JSON.stringify(pipe)});
      process.stdout.write('ready');`,
    ]);
    const ended = once(child, 'exit');
    await once(child.stdout!, 'data');
    // One that comes at once is the same press.
    const signals = setInterval(() => child.kill('SIGTERM'), 100);
    assert.deepEqual(await ended, [null, 'SIGINT']);
    clearInterval(signals);
  });

  it('writes all of its output for a reader who comes late, and then ends while a connection is open', async () => {
    const record = { text: 'x'.repeat(300_000) };
    const server = createServer((_req, res) => res.end(JSON.stringify(record))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const child = node([join(SRC, 'main.ts'), 'api', '/'], { WTS_URL: url, WTS_TOKEN: 'x' });
    await once(child.stdout!, 'readable');
    const [out, [code]] = await Promise.all([text(child.stdout!), once(child, 'exit') as Promise<[number]>]);
    assert.deepEqual([JSON.parse(out), code], [record, 0]);
    server.closeAllConnections();
    server.close();
  });
});
