import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An address that answers nothing at all: its packets are dropped. */
export interface BlackHole extends AsyncDisposable {
  readonly port: number;
}

const PROGRAM = `
  const server = require('node:net').createServer();
  const [host, port] = process.argv.slice(1);
  server.listen({ host, port: Number(port), backlog: 1 }, () => console.log(server.address().port));
`;
/** The queue takes one more than its length. */
const QUEUE_LENGTH = 2;

/** A listener in a stopped process with a full queue, whose kernel drops each further SYN; Linux does so. */
export async function blackHole(host: string, port = 0): Promise<BlackHole> {
  const child = spawn(process.execPath, ['-e', PROGRAM, host, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  const listening = { host, port: Number(line.toString()) };
  const fillers: Socket[] = Array.from({ length: QUEUE_LENGTH }, () => connect(listening));
  await Promise.all(fillers.map((filler) => once(filler, 'connect')));
  return {
    port: listening.port,
    [Symbol.asyncDispose]: async () => {
      for (const filler of fillers) filler.on('error', () => undefined).destroy();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
