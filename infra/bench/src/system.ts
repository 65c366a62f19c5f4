import { totalmem } from 'node:os';
import { connectTo, startTestSystem, testAuthority, type TestAuthority, type TestSystem } from '@wts/testkit';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { targetOf, type Target } from './target.ts';
import { openPeer, type Peer } from './peer.ts';

export interface MeasuredSystem extends AsyncDisposable {
  readonly testSystem: TestSystem;
  readonly ours: Target;
  readonly peer: Peer | null;
  /** Issues certificates that the dispatcher of webhooks trusts. */
  readonly authority: TestAuthority;
}

/** Of one person; a benchmark sends more. */
export const WITHOUT_RATE_LIMITS = JSON.stringify({ graphql: 0, rest: 0 });

const MEASURED = ['gateway', 'sync', 'workspace', 'webhook-dispatcher', 'graph', 'auth', 'agent'] as const;

export interface StartOptions {
  /** Of the measured processes. */
  readonly nodeOptions?: string;
  /** More settings of every service. */
  readonly settings?: Readonly<Record<string, string>>;
  /** More settings of PostgreSQL. */
  readonly postgres?: Readonly<Record<string, string>>;
}

/** Starts our system and, on the same PostgreSQL server, the peer. */
export async function openSystem(
  withPeer: boolean,
  { nodeOptions = '', settings: more, postgres }: StartOptions = {},
): Promise<MeasuredSystem> {
  await using opening = new AsyncDisposableStack();
  const authority = await testAuthority();
  const settings = { ...productionSettings(nodeOptions), WEBHOOK_EXTRA_CA_FILE: authority.caFile, ...more };
  const overrides = Object.fromEntries(MEASURED.map((name) => [name, settings]));
  const testSystem = opening.use(await startTestSystem({ label: 'bench', ownPostgres: true, overrides }));
  await restartWith(testSystem, { ...serverSettings(), ...postgres });
  const peer = withPeer ? opening.use(await openPeer(testSystem, nodeOptions)) : null;
  const opened = opening.move();
  return {
    testSystem,
    ours: targetOf(testSystem),
    peer,
    authority,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Without the contract checks of tests, and without request logs, which would measure the disk. */
function productionSettings(nodeOptions: string): Record<string, string> {
  return {
    NODE_ENV: 'production',
    CHECK_REPLIES: 'off',
    LOG_LEVEL: 'warn',
    RATE_LIMITS: WITHOUT_RATE_LIMITS,
    ...(nodeOptions === '' ? {} : { NODE_OPTIONS: nodeOptions }),
  };
}

/**
 * A quarter of the memory, as the manual of PostgreSQL advises for a server, but at most 2 GB. A log of two million entries
 * does not fit into the default of 128 MB.
 */
function serverSettings(): Record<string, string> {
  const megabytes = Math.min(2048, Math.floor(totalmem() / 4 / 2 ** 20));
  return { shared_buffers: `${megabytes}MB` };
}

/** PostgreSQL reads some settings only when it starts. */
async function restartWith(testSystem: TestSystem, settings: Readonly<Record<string, string>>): Promise<void> {
  await using client = await connectTo(testSystem.database.url);
  for (const [name, value] of Object.entries(settings))
    await client.query(`alter system set ${escapeIdentifier(name)} = ${escapeLiteral(value)}`);
  await testSystem.postgres.stop();
  await testSystem.postgres.start();
  await testSystem.untilReady();
}
