import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { SocketServerOptions } from '../src/socket/server.ts';

/** The report of a replica process. */
export interface ReplicaReport {
  /** After a full garbage collection, where it was asked for. */
  readonly aliveBytes: number;
  readonly sockets: number;
}

export interface ReplicaProcessOptions {
  readonly databaseUrl: string;
  readonly limits: SocketServerOptions['limits'];
}

/** A replica in a process of its own, so that its memory is measured without that of its clients. It follows the log by polling. */
export async function replicaProcess(
  stack: AsyncDisposableStack,
  options: ReplicaProcessOptions,
): Promise<{ baseUrl: string; report: () => Promise<ReplicaReport>; sockets: () => Promise<number> }> {
  const child = fork(new URL('replica-main.ts', import.meta.url), [JSON.stringify(options)], {
    execArgv: ['--expose-gc'],
    stdio: 'inherit',
  });
  stack.defer(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const [{ baseUrl }] = (await once(child, 'message')) as [{ baseUrl: string }];
  const ask = async (question: 'report' | 'sockets'): Promise<ReplicaReport> => {
    const message = once(child, 'message');
    child.send(question);
    const [report] = (await message) as [ReplicaReport];
    return report;
  };
  return { baseUrl, report: () => ask('report'), sockets: async () => (await ask('sockets')).sockets };
}
