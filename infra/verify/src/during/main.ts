/**
 * `npm run verify:during`: runs commands, such as a rolling restart, while a system is used, and prints what its callers saw meanwhile.
 * Exits with 0 when no request failed, no command did, and a socket received every change once and in order.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readWords, runTask, UserError } from '@wts/local';
import { eventually } from '@wts/testkit';
import { compareDeliveries } from '../compare.ts';
import { followBySocket, readSnapshot } from '../followers.ts';
import { findPublicSystem } from '../running-system.ts';
import { Traffic, type Sample } from './traffic.ts';

const USAGE = `npm run verify:during [-- options] "command" ...

  --per-second N   requests, default 20: half of them writes, the others reads that need every service. Many more exceed the
                   rate limit of GraphQL.

Runs each command by the shell, one after the other, while the requests and a socket use the system of npm start, or another one:
BASE_URL, AUTH_URL, API_KEY (of an owner). Example:

  npm run verify:during -- "kubectl rollout restart deployment/wts-sync && kubectl rollout status deployment/wts-sync"`;

/** Before the first command, for comparison. */
const CALM_MS = 2_000;
const CATCH_UP_MS = 20_000;
const CAUSES_MAX = 5;

await runTask(async (stack, { stopping }) => {
  const read = readWords(USAGE, { 'per-second': { type: 'string', default: '20' } });
  if (read === null) return 0;
  const { values, positionals: commands } = read;
  const perSecond = Number(values['per-second']);
  if (commands.length === 0 || !(perSecond > 0)) throw new UserError(USAGE);
  const system = await findPublicSystem(process.env);
  const { lastSyncId, rows } = await readSnapshot(system, ['Workspace']);
  const workspaceId = rows[0]?.id;
  if (workspaceId === undefined) throw new UserError('The API key sees no workspace.');
  const follower = stack.use(followBySocket(system, 'the socket', lastSyncId));
  const traffic = new Traffic(system, workspaceId);
  await traffic.tryEach();
  const end = new AbortController();
  const running = traffic.run(perSecond, end.signal);
  stack.defer(async () => {
    end.abort();
    await running;
    const left = await traffic.removeTasks();
    if (left > 0) console.log(`${left} tasks with the title "Written by verify:during" are left. Delete them by hand.`);
  });
  let isPassed = true;
  for (const command of ['', ...commands]) {
    if (stopping.aborted) break;
    const beganMs = performance.now();
    const status = await runCommand(command, stopping);
    const samples = traffic.take();
    isPassed &&= status === 0 && samples.every(({ fault }) => fault === null);
    const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
    console.log(`${command === '' ? 'nothing' : command}\n  ${seconds} s, exit ${status}; ${textOf(samples)}`);
  }
  end.abort();
  await running;
  const { written } = traffic;
  const last = written.reduce((most, id) => (BigInt(id) > most ? BigInt(id) : most), 0n);
  await eventually(() => follower.cursor() >= last, { deadlineMs: CATCH_UP_MS }).catch(() => undefined);
  const wanted = new Set(written);
  const received = follower.received.map(({ syncId }) => syncId).filter((id) => wanted.has(id));
  const findings = compareDeliveries('the socket', written, received);
  for (const { guarantee, seen } of findings) console.log(`BROKEN  ${guarantee}: ${seen}`);
  if (findings.length === 0) console.log(`The socket received all ${written.length} changes, each once and in order.`);
  return isPassed && findings.length === 0 ? 0 : 1;
});

/** Resolves to its exit code. The empty command only lets some time pass, for comparison. */
async function runCommand(command: string, stopping: AbortSignal): Promise<number> {
  const line = command === '' ? `sleep ${CALM_MS / 1000}` : command;
  const child = spawn('sh', ['-c', line], { stdio: ['ignore', 'ignore', 'inherit'], signal: stopping });
  child.on('error', () => {});
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

function textOf(samples: readonly Sample[]): string {
  const faults = samples.flatMap(({ fault }) => fault ?? []);
  const refused = samples.filter(({ isRefused }) => isRefused).length;
  const tookMs = samples.map((one) => one.tookMs).toSorted((a, b) => a - b);
  const at = (share: number): string => (tookMs[Math.floor((tookMs.length - 1) * share)] ?? 0).toFixed(0);
  const counts = `${samples.length} requests, ${faults.length} failed, ${refused} times 503 with Retry-After`;
  const causes = [...new Set(faults)].slice(0, CAUSES_MAX).map((fault) => `\n  FAILED  ${fault}`);
  return `${counts}; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms${causes.join('')}`;
}
