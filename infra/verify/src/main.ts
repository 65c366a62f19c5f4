/**
 * `npm run verify:log`: audits a running system and ends with 0 when everything holds, 1 when something does not.
 *
 *   -- --seconds 10    listen that long by sockets and pollers
 *   -- --sockets 4     so many sockets
 *   -- --writes 20     make so many changes a second meanwhile (default none: this may be somebody's system)
 *   -- --follow        again and again until stopped
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { request } from 'undici';
import { auditListeners, auditReplica } from './audit-live.ts';
import { auditLog } from './audit-log.ts';
import { auditStream } from './audit-stream.ts';
import { connectToBroker } from './broker.ts';
import type { Finding } from './finding.ts';
import { listenByPolling, listenBySocket, readPage, type Listener } from './listeners.ts';
import { findSystem, type System } from './target.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    sockets: { type: 'string', default: '4' },
    writes: { type: 'string', default: '0' },
    follow: { type: 'boolean', default: false },
  },
});
const CATCH_UP_MS = 15_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  const system = await findSystem(process.env);
  let isSound = true;
  do isSound = (await verify(system)) && isSound;
  while (values.follow);
  process.exitCode = isSound ? 0 : 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function verify(system: System): Promise<boolean> {
  const client = new Client({ connectionString: system.databaseUrl });
  await client.connect();
  const nc = await connectToBroker(system.natsUrl);
  try {
    const live = await listen(system, client);
    const log = await auditLog(client);
    const stream = await auditStream(nc, client);
    const replica = log.floor === 0n ? await auditReplica(client, system, live.groups) : { records: 0, findings: [] };
    const findings = [...log.findings, ...stream.findings, ...live.findings, ...replica.findings];
    say(`log      ${log.entries} entries, ${log.floor}..${log.head}`);
    say(`stream   ${stream.chunks} chunks`);
    say(
      `live     ${live.heard} entries to each of ${live.listeners} listeners${live.heard === 0 ? ' (nothing happened; --writes 20 makes something happen)' : ''}`,
    );
    say(`replica  ${replica.records} records, followed from the beginning`);
    for (const { promise, seen } of findings) say(`BROKEN   ${promise}: ${seen}`);
    say(findings.length === 0 ? 'Sound: nothing missing, doubled or out of order.' : `${findings.length} findings.`);
    return findings.length === 0;
  } finally {
    await nc.close();
    await client.end();
  }
}

interface Heard {
  readonly groups: readonly string[];
  readonly listeners: number;
  readonly heard: number;
  readonly findings: readonly Finding[];
}

async function listen(system: System, client: Client): Promise<Heard> {
  const start = await headOf(system);
  const groups = await groupsOf(system, client);
  await using stack = new AsyncDisposableStack();
  const listeners: Listener[] = Array.from({ length: Number(values.sockets) }, (_, index) =>
    stack.use(listenBySocket(system, `socket ${index + 1}`, start)),
  );
  listeners.push(stack.use(listenByPolling(system, 'poller', start)));
  const endMs = performance.now() + Number(values.seconds) * 1000;
  const workspaceId = groups.find((group) => group !== groups[0]);
  while (performance.now() < endMs) {
    if (Number(values.writes) > 0 && workspaceId !== undefined) await write(system, workspaceId);
    await pause(Number(values.writes) > 0 ? 1000 / Number(values.writes) : 100);
  }
  const upTo = BigInt(await headOf(system));
  const deadlineMs = performance.now() + CATCH_UP_MS;
  while (listeners.some(({ at }) => at() < upTo) && performance.now() < deadlineMs) await pause(50);
  const findings = await auditListeners(client, listeners, groups, BigInt(start), upTo);
  return { groups, listeners: listeners.length, heard: listeners[0]?.received.length ?? 0, findings };
}

async function headOf(system: System): Promise<string> {
  let after = '0';
  for (;;) {
    const page = await readPage(system, after);
    after = page.lastSyncId;
    if (!page.hasMore) return after;
  }
}

/** The person of the credential first, then their workspaces and private projects. */
async function groupsOf(system: System, client: Client): Promise<string[]> {
  const socket = new WebSocket(
    `${system.baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(system.token)}`,
  );
  const groups = await new Promise<string[]>((resolve, reject) => {
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: '1', token: system.token })),
    );
    socket.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(String(data)) as { type: string; groups?: string[]; message?: string };
      if (frame.type === 'subscribed') resolve(frame.groups ?? []);
      else if (frame.type === 'error') reject(new Error(`/sync/ws: ${frame.message ?? 'refused'}`));
    });
    socket.addEventListener('error', () => reject(new Error(`/sync/ws cannot be opened at ${system.baseUrl}`)));
  });
  socket.close();
  const { rows } = await client.query<{ id: string }>(`select id::text from sync.users where id = any($1::uuid[])`, [
    groups,
  ]);
  const self = rows[0]?.id ?? '';
  return [self, ...groups.filter((group) => group !== self)];
}

async function write(system: System, workspaceId: string): Promise<void> {
  const transaction = {
    clientTxId: randomUUID(),
    clientId: 'verify-log',
    modelName: 'Task',
    modelId: randomUUID(),
    action: 'INSERT',
    payload: { workspaceId, title: 'Written by verify:log' },
  };
  const { body } = await request(`${system.baseUrl}/sync/mutate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${system.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ batchId: randomUUID(), transactions: [transaction] }),
  });
  await body.dump();
}
