import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { LOCAL, ROOT } from '../src/layout.ts';
import type { StackFile } from '../src/stack-file.ts';
import { until } from './until.ts';

/** In a mount namespace `.local` is an empty disk of its own, also beside a running `npm start`. Compiled modules stay. */
const NAMESPACE = ['--mount', ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'])];
const SMALL_DISK = `mount --bind '${LOCAL}/compile-cache' /mnt && mount -t tmpfs -o size=320m none '${LOCAL}'`;
/** The second start waits for a line, so that the test can look at the disk and free it. */
const TWO_STARTS = `${SMALL_DISK} && { "$@"; echo "exit code $?"; read line; exec "$@"; }`;

describe('npm start', () => {
  let run: ReturnType<typeof start> | undefined;
  before(async function () {
    mkdirSync(join(LOCAL, 'compile-cache'), { recursive: true });
    const { status } = spawnSync('unshare', [...NAMESPACE, 'sh', '-c', SMALL_DISK]);
    // Only here: not where containers may not mount, and not on macOS.
    if (status !== 0) return this.skip();
    run = start();
    await until('it is ready', () => run?.times(/Ready in|exit code/g) === 1);
  });
  after(() => {
    if (run?.child.pid !== undefined) spawnSync('kill', ['-KILL', '--', `-${run.child.pid}`]);
  });

  function start() {
    const args = [...NAMESPACE, 'sh', '-c', TWO_STARTS, 'sh', process.execPath, join(ROOT, 'infra/local/src/start.ts')];
    const child = spawn('unshare', args, {
      env: { ...process.env, NODE_COMPILE_CACHE: '/mnt' },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    }
    const path = (name: string): string => `/proc/${child.pid}/root${join(LOCAL, name)}`;
    return {
      child,
      path,
      text: () => text,
      times: (pattern: RegExp) => text.match(pattern)?.length ?? 0,
      stack: () => JSON.parse(readFileSync(path('stack.json'), 'utf8')) as StackFile,
    };
  }

  it('serves the metrics of every service at the addresses in .local/stack.json', async () => {
    for (const [name, { metrics }] of Object.entries(run?.stack().services ?? {})) {
      match(
        await (await fetch(metrics ?? '')).text(),
        new RegExp(`wts_build_info{version=".+",commit=".+",service="${name}"(,shard="0")?} 1`),
      );
    }
    match(run?.text() ?? '', /Metrics {9}http:\S+\/metrics \(sync\)/);
  });

  it('on a full disk is one sentence and a stop, and after space was freed the next start has everything', async () => {
    const { child, text, times, path, stack } = run ?? start();
    const confirmed = await createTask(stack());

    fill(path('filler'));
    await until('it has ended', () => times(/exit code/g) === 1);
    match(text(), /The disk of \S+ is full: \d+ MB are free\. Everything stops now[^]*exit code 1\n/);
    deepEqual([times(/is full/g), times(/starts again|ENOSPC|at .*\.ts:\d/g)], [1, 0], text());

    rmSync(path('filler'));
    child.stdin.write('go\n');
    await until('it is ready again', () => times(/Ready in/g) === 2 || child.exitCode !== null);
    ok((await tasksOf(stack())).includes(confirmed), 'a confirmed change is lost');
    equal(await verify(stack()), 0);
    child.kill('SIGINT');
    await once(child, 'exit');
  });
});

function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  const block = Buffer.alloc(1024 * 1024);
  try {
    for (;;) writeSync(descriptor, block);
  } catch (error) {
    equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  } finally {
    closeSync(descriptor);
  }
}

const headers = ({ apiKey }: StackFile) => ({
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
});

async function createTask(stack: StackFile): Promise<string> {
  const modelId = crypto.randomUUID();
  const payload = { workspaceId: stack.workspaceId, title: 'Before the disk was full' };
  const transaction = {
    clientTxId: crypto.randomUUID(),
    clientId: 'test',
    modelName: 'Task',
    modelId,
    action: 'INSERT',
  };
  const response = await fetch(`${stack.baseUrl}/sync/mutate`, {
    method: 'POST',
    headers: headers(stack),
    body: JSON.stringify({ batchId: '1', transactions: [{ ...transaction, payload }] }),
  });
  match(await response.text(), /"success":true/);
  return modelId;
}

async function tasksOf(stack: StackFile): Promise<string> {
  const request = { modelName: 'Task', indexedKey: 'workspaceId', keyValue: stack.workspaceId };
  const body = JSON.stringify({ requests: [request] });
  const response = await fetch(`${stack.baseUrl}/sync/batch`, { method: 'POST', headers: headers(stack), body });
  return response.text();
}

/** The exit code of `npm run verify:log`. */
async function verify({ baseUrl, apiKey, databaseUrl, natsUrl }: StackFile): Promise<number | null> {
  const args = [join(ROOT, 'infra/verify/src/main.ts'), '--seconds', '0.5', '--writes', '10'];
  const env = { ...process.env, BASE_URL: baseUrl, API_KEY: apiKey, DATABASE_URL: databaseUrl, NATS_URL: natsUrl };
  const child = spawn(process.execPath, args, { env, cwd: '/', stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
