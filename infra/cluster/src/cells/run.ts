/**
 * Two cells under load: everything of the second is killed while the first is measured; it comes back; then a workspace moves to it
 * from the first. At the end all that was received in either cell is compared with its log.
 */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { LOCAL, runScript } from '@wts/local';
import { CHECK_EVERY_MS, ControlClient, controlText, Load, type CheckedSystem, type Span } from '@wts/verify';
import type { Cluster } from '../cluster.ts';
import { OWN_ADDRESS } from '../network.ts';
import { SECOND } from '../place.ts';
import { verifyLog } from '../verify-log.ts';
import { createWorkspace, MovingWorkspace } from './moving.ts';

const WRITERS = 3;
const SOCKETS = 3;
/** Of each writer. */
const WRITE_EVERY_MS = 300;
const MEASURED_MS = 40_000;
/** Writers and endpoints of the second cell give up after a minute. */
const AWAY_MS = 20_000;
const MOVE_MS = 240_000;
const AFTER_MS = 20_000;
const SHOWN = 50;
const run = promisify(execFile);

export interface CellsOptions {
  readonly print: (line: string) => void;
  readonly stop: AbortSignal;
}

/** Resolves to whether nothing was found. */
export async function runCells(first: Cluster, second: Cluster, { print, stop }: CellsOptions): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, stop]);
  const one = first.system();
  const two = await inSecond(second.system());
  const identity = await first.authority.issue({ hosts: [OWN_ADDRESS] });
  const place = { identity, host: OWN_ADDRESS };
  const size = { place, writers: WRITERS, sockets: SOCKETS, writeEveryMs: () => WRITE_EVERY_MS };
  const ofOne = await Load.start(stack, one, size, signal);
  const ofTwo = await Load.start(stack, two, size, signal);
  const moving = await MovingWorkspace.open(stack, { from: one, to: two, identity, host: OWN_ADDRESS });
  const control = stack.use(await ControlClient.start(one));
  const stage: Stage = { first, second, ofOne, moving, control, stack, print, kills: [], problems: [] };
  // The first error ends the run.
  const running = [moving.write(signal), ...ofOne.background, ...ofTwo.background];
  await Promise.race([scenario(stage), ...running]).finally(() => stopping.abort());
  await Promise.all(running);
  if (stop.aborted) return false;
  print('the load has stopped; waiting for the last deliveries, then all audits');
  const { problems, kills } = stage;
  problems.push(...(await moving.check()));
  for (const [name, load, spans] of [
    ['first', ofOne, []],
    ['second', ofTwo, kills],
  ] as const) {
    const { summary, findings } = await load.finish(spans);
    for (const line of [`${name} cell`, ...summary]) print(line);
    problems.push(...findings.map(({ guarantee, seen }) => `${name} cell: ${guarantee}: ${seen}`));
  }
  for (const system of [one, two])
    if (!(await verifyLog(system, print))) problems.push(`verify:log did not pass at ${system.baseUrl}`);
  for (const { kubelet } of [first, second])
    problems.push(...kubelet.incidents.map(({ pod, what }) => `${pod}: ${what}`));
  print(`moved      a workspace, in which ${moving.count} changes were acknowledged before, meanwhile and after`);
  for (const problem of problems.slice(0, SHOWN)) print(`BROKEN     ${problem}`);
  print(problems.length === 0 ? 'PASSED' : 'FAILED');
  return problems.length === 0;
}

interface Stage {
  readonly first: Cluster;
  readonly second: Cluster;
  /** The load of the first cell. */
  readonly ofOne: Load;
  readonly moving: MovingWorkspace;
  readonly control: ControlClient;
  readonly stack: AsyncDisposableStack;
  readonly print: (line: string) => void;
  readonly kills: Span[];
  readonly problems: string[];
}

async function scenario(stage: Stage): Promise<void> {
  const { first, second, moving, stack, print, kills } = stage;
  await measured(stage, 'before', () => pause(MEASURED_MS));
  const fromMs = Date.now();
  await measured(stage, 'while everything of the second cell is killed, and comes back', async () => {
    for (const pod of second.pods) pod.kill();
    await second.stores.kill();
    await pause(AWAY_MS);
    await second.stores.start();
    await pause(2 * CHECK_EVERY_MS);
    await second.untilReady();
  });
  kills.push({ fromMs, toMs: Date.now() });
  print(`the second cell was away for ${((Date.now() - fromMs) / 1000).toFixed(0)} s, and is ready again`);
  await measured(stage, 'after', () => pause(AFTER_MS));
  const { count } = moving;
  const beganMs = performance.now();
  await measured(stage, 'while a workspace moves', async () => {
    const words = ['workspace', 'move', moving.workspaceId, '--to', String(SECOND.shard)];
    await Promise.all([operate(first, words), moving.untilMoved(stack, MOVE_MS)]);
  });
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
  await pause(AFTER_MS);
  const paused = moving.longestPauseMs.toFixed(0);
  print(
    `the workspace with ${count} tasks moved in ${seconds} s; the longest time without an accepted change was ${paused} ms`,
  );
}

/** Prints the rate and the latencies of the first cell while something happens, in which no request of it may fail. */
async function measured(stage: Stage, name: string, work: () => Promise<unknown>): Promise<void> {
  const { ofOne, control, print, problems } = stage;
  const startedMs = performance.now();
  const { retries } = ofOne;
  const { acknowledged } = ofOne.check;
  const writing = control.write(ofOne.system.baseUrl);
  await work();
  const result = await writing.stop();
  const rate = (ofOne.check.acknowledged - acknowledged) / ((performance.now() - startedMs) / 1000);
  const failed = ofOne.retries - retries + result.refusals + result.failures.length;
  print(
    `${name}: the first cell took ${rate.toFixed(1)} changes/s, ${failed} failed; one person: ${controlText(result)}`,
  );
  if (failed > 0) problems.push(`${name}: ${failed} requests failed in the first cell: ${result.failures[0] ?? '503'}`);
}

/** The demo person in a workspace of the second cell. Others are known there once they have made a workspace there, too. */
async function inSecond(system: CheckedSystem): Promise<CheckedSystem> {
  const { baseUrl, apiKey, userId } = system;
  const workspaceId = await createWorkspace(baseUrl, apiKey, 'Second');
  const person: CheckedSystem['person'] = async (name, claims) => {
    const made = await system.person(name, claims);
    await createWorkspace(baseUrl, made.token, 'Own');
    return made;
  };
  return {
    ...system,
    userId,
    workspaceId,
    person,
    member: async (name, role, id) => {
      const made = await person(name);
      const payload = { workspaceId: id ?? workspaceId, userId: made.userId, role: role ?? 'member' };
      await system.commit([{ modelName: 'WorkspaceMember', modelId: crypto.randomUUID(), action: 'INSERT', payload }]);
      return made;
    },
  };
}

/** Runs `wts admin`. */
async function operate(cluster: Cluster, words: readonly string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: cluster.stores.database.urlOf('wts_auth') };
  const token = (await runScript('auth', 'operator', env, ['token', 'create', 'cluster'])).trim();
  const program = join(dirname(LOCAL), 'infra/local/src/wts.ts');
  const { stdout } = await run(process.execPath, [program, 'admin', ...words], {
    env: {
      ...process.env,
      WTS_URL: cluster.system().baseUrl,
      WTS_AUTH_URL: cluster.authUrl,
      WTS_OPERATOR_TOKEN: token,
    },
  });
  return stdout;
}
