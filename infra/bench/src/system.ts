import { totalmem } from 'node:os';
import { startTestSystem, type TestSystem } from '@wts/testkit';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { targetOf, type Target } from './target.ts';
import { openPeer, type Peer } from './peer.ts';

export interface System extends AsyncDisposable {
  readonly testSystem: TestSystem;
  readonly ours: Target;
  readonly peer: Peer | null;
}

const MEASURED = ['gateway', 'sync', 'workspace'] as const;

export interface Start {
  /** Of the processes measured. */
  readonly nodeOptions?: string;
  /** Settings of the server, beside those it always has. */
  readonly postgres?: Readonly<Record<string, string>>;
}

/** Ours, and the peer beside it on the same PostgreSQL server; both gone with it. */
export async function openSystem(withPeer: boolean, { nodeOptions = '', postgres }: Start = {}): Promise<System> {
  await using opening = new AsyncDisposableStack();
  const overrides = Object.fromEntries(MEASURED.map((name) => [name, asInProduction(nodeOptions)]));
  const testSystem = opening.use(await startTestSystem({ label: 'bench', ownPostgres: true, overrides }));
  await restartWith(testSystem, { ...asOnAServer(), ...postgres });
  const peer = withPeer ? opening.use(await openPeer(testSystem, nodeOptions)) : null;
  const opened = opening.move();
  return { testSystem, ours: targetOf(testSystem), peer, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Answers are not checked against their contracts, as they are in tests; logs of requests would measure the disk. */
function asInProduction(nodeOptions: string): Record<string, string> {
  return {
    NODE_ENV: 'production',
    CHECK_REPLIES: 'off',
    LOG_LEVEL: 'warn',
    ...(nodeOptions === '' ? {} : { NODE_OPTIONS: nodeOptions }),
  };
}

/**
 * As the manual of PostgreSQL advises for a server: a quarter of the memory, here up to 2 GB. The default of 128 MB is for
 * machines on which everything starts; a log of two million entries does not fit into it.
 */
function asOnAServer(): Record<string, string> {
  const megabytes = Math.min(2048, Math.floor(totalmem() / 4 / 2 ** 20));
  return { shared_buffers: `${megabytes}MB` };
}

/** Some settings count from the start of the server on. */
async function restartWith(testSystem: TestSystem, settings: Readonly<Record<string, string>>): Promise<void> {
  const client = new Client({ connectionString: testSystem.database.url });
  await client.connect();
  try {
    for (const [name, value] of Object.entries(settings)) {
      await client.query(`alter system set ${escapeIdentifier(name)} = ${escapeLiteral(value)}`);
    }
  } finally {
    await client.end();
  }
  await testSystem.postgres.stop();
  await testSystem.postgres.start();
  await testSystem.untilReady();
}
