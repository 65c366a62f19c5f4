/**
 * `npm run verify:clients`: starts a system and uses `{auth_url}` as clients of other authors do. Exits with 0 when everything
 * works, otherwise with 1.
 *
 * First the conformance tool of the Model Context Protocol checks the agent endpoint and the authorization server. Then the
 * agents work, half of them with each generation of the SDK, and renew their access token once. At the end all of their tasks
 * must be there, once and completed, and every audit of `npm run verify:log` must pass.
 */
import { optionsOrExit } from '@wts/local';
import { startTestSystem, type TestSystem, connectTo } from '@wts/testkit';
import { checkSystem, followBySocket, numbersOrExit, readStartState } from '@wts/verify';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, AgentReport } from './agents.ts';
import { runConformance } from './conformance.ts';

const USAGE = `npm run verify:clients [-- options]

  --agents N     the number of people who join, each with an agent that registers itself and works for them; default 100
  --seconds N    how long the agents create and complete tasks, default 60`;

const values = optionsOrExit(USAGE, {
  agents: { type: 'string', default: '100' },
  seconds: { type: 'string', default: '60' },
});
const CONNECTING_AT_ONCE = 10;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const { agents: count, seconds } = numbersOrExit(values, { agents: 1, seconds: 1 });

await using testSystem = await startTestSystem({
  label: 'clients',
  services: ['graph', 'agent'],
  overrides: {
    // Each agent has a network of its own, so all rate limits are in force, as they are for people in many places.
    gateway: { TRUSTED_PROXIES: '127.0.0.1' },
    auth: { CLIENT_ID_METADATA_DOCUMENTS: 'on' },
  },
});
const agents = await connectAgents(testSystem);
const problems = [
  ...(await runConformance(testSystem, agents[0]?.accessToken ?? '', print)),
  ...(await runAgents(testSystem, agents)),
];
for (const problem of problems) print(`BROKEN   ${problem}`);
print(
  problems.length === 0 ? 'Passed: clients of other authors work.' : `FAILED: ${problems.length} problems, see above.`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

async function connectAgents(system: TestSystem): Promise<Agent[]> {
  const body = { role: 'member' };
  const invited = await system.request(system.apiKey, 'POST', `/api/workspaces/${system.workspaceId}/invitations`, {
    body,
  });
  const { code } = (invited.json() as { invitation: { code: string } }).invitation;
  const startedMs = performance.now();
  const connected: Agent[] = [];
  const indexes = Array.from({ length: count }, (_, index) => index + 1).values();
  const connectSome = async (): Promise<void> => {
    for (const index of indexes) connected.push(await Agent.connect(system, code, index));
  };
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, connectSome));
  const tookS = (performance.now() - startedMs) / 1000;
  print(`${count} people joined, signed in and allowed an agent that registered itself, in ${tookS.toFixed(1)} s`);
  return connected;
}

async function runAgents(system: TestSystem, working: readonly Agent[]): Promise<string[]> {
  const start = await readStartState(system);
  await using follower = followBySocket({ baseUrl: system.baseUrl, token: system.apiKey }, 'socket', start.after);
  const report = new AgentReport();
  const stop = new AbortController();
  const work = Promise.all(working.map((agent) => agent.work(report, stop.signal)));
  await Promise.race([pause(seconds * 1000), work]);
  stop.abort();
  await work;
  await Promise.all(working.map((agent) => agent.close()));
  const { created, completed, errors, repeats, samples } = report;
  print(
    `${count} agents in ${seconds} s: ${samples.length} calls, ${created.size} tasks created, ${completed.size} completed, ${repeats} calls repeated when asked to`,
  );
  const shares = working.map(
    ({ name }) => [...created.values()].filter((title) => title.startsWith(`${name},`)).length,
  );
  const fewest = Math.min(...shares);
  print(`  of each agent: ${fewest} to ${Math.max(...shares)} tasks`);
  for (const tool of new Set(samples.map((sample) => sample.tool)))
    print(`  ${tool}: ${latencyOf(samples.filter((sample) => sample.tool === tool))}`);
  const lost = await lostTasks(system, report);
  const findings = await checkSystem(system, [follower], start, { acknowledged: new Map(), retries: 0 });
  print(`  ${lost.length} tasks lost, doubled or open; ${findings.length} findings of the audits of verify:log`);
  if (fewest === 0) lost.push('an agent created nothing');
  return [...[...errors].map(([what, times]) => `${what} (${times} times)`), ...lost, ...findings];
}

function latencyOf(samples: readonly { readonly tookMs: number }[]): string {
  const sorted = samples.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const at = (share: number): string => `${Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)} ms`;
  return `${sorted.length} calls, p50 ${at(0.5)}, p99 ${at(0.99)}`;
}

/** Every task that an agent got an answer for is there, once and as answered. */
async function lostTasks({ database }: TestSystem, { created, completed }: AgentReport): Promise<string[]> {
  await using client = await connectTo(database.url);
  const { rows } = await client.query<{ id: string; title: string; is_completed: boolean }>(
    `select id, title, completed_at is not null as is_completed from sync.tasks where title like 'agent %, round %'`,
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  const doubled = rows.filter(({ id }) => !created.has(id)).map(({ title }) => `added without an answer: ${title}`);
  const lost = [...created].filter(([id, title]) => stored.get(id)?.title !== title);
  const open = [...completed].filter((id) => stored.get(id)?.is_completed !== true);
  return [
    ...doubled,
    ...lost.map(([, title]) => `lost: ${title}`),
    ...open.map((id) => `not completed: ${created.get(id)}`),
  ];
}
