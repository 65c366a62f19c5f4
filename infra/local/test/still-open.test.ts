import { doesNotMatch, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { describeOpen, describeProcesses, rememberOrigins } from '../src/testing/still-open.ts';

describe('what keeps a suite running after its tests', () => {
  it('is described by address and by the line that opened it', async () => {
    rememberOrigins();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const text = describeOpen();
    socket.destroy();
    server.close();
    await once(server, 'close');
    match(text, new RegExp(`- server at .*${port}`));
    match(
      text,
      new RegExp(`- socket \\d+ to 127.0.0.1:${port}: 0 bytes read, 0 written\\n.*still-open\\.test\\.ts:\\d+`),
    );
    doesNotMatch(describeOpen(), new RegExp(`:${port}`));
  });

  it('is named with the processes that it started', async () => {
    const child = spawn('sleep', ['30'], { stdio: 'ignore' });
    await once(child, 'spawn');
    match(describeOpen(), new RegExp(`- child process ${child.pid}: sleep 30`));
    match(describeProcesses(process.pid), new RegExp(`\\n *${child.pid} +${process.pid} .*sleep 30`));
    child.kill();
    await once(child, 'exit');
  });
});
