/** The thread of an honest person: works at a fixed pace while told to, whether or not earlier requests were answered. */
import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf } from './attacker.ts';
import { bodyOf, Caller, CONTENT_MARK } from './caller.ts';
import { DEEDS, type Deed, type Sample } from './samples.ts';

export type Told = { readonly type: 'settled' | 'ended' } | { readonly type: 'sample'; readonly sample: Sample };

/** Of each second. A client at work writes more often than it polls, and loads a snapshot when it is opened. */
const PER_SECOND: Readonly<Record<Deed, number>> = { write: 20, deltas: 10, bootstrap: 5 };
const TASKS = 200;
const PAGE = 100;
const CONNECTIONS = 512;

const { baseUrl, token } = workerData as { baseUrl: string; token: string };
const caller = new Caller(baseUrl, token, CONNECTIONS);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const tell = (told: Told): void => parentPort?.postMessage(told);

const workspaceId = await caller.openWorkspace();
const payload = { workspaceId, title: CONTENT_MARK };
const { lastSyncId: start } = await caller.commit([
  { action: 'INSERT', modelName: 'Label', modelId: randomUUID(), payload: { workspaceId, name: 'Beginning' } },
]);
const ids = await caller.insertMany(TASKS, 100, { modelName: 'Task', payload });

const refusalOf = (status: number, text: string): string =>
  `${status} ${/"message":"([^"]*)"/.exec(text)?.[1] ?? text.slice(0, 100)}`;

/** Resolves to null, or to what was wrong with the answer. */
const deeds: Readonly<Record<Deed, (nth: number) => Promise<string | null>>> = {
  write: async (nth) => {
    const change = { title: `${CONTENT_MARK} ${nth}` };
    const modelId = ids[nth % ids.length] ?? '';
    const body = bodyOf([{ action: 'UPDATE', modelName: 'Task', modelId, payload: change }]);
    const { status, text } = await caller.ask('POST', '/sync/mutate', { body });
    return status === 200 && text.includes('"success":true') ? null : refusalOf(status, text);
  },
  deltas: async () => {
    const { status, text } = await caller.ask('GET', `/sync/deltas?after=${start}&limit=${PAGE}`);
    return status === 200 && text.includes(CONTENT_MARK) ? null : refusalOf(status, text);
  },
  bootstrap: async () => {
    const { status, text } = await caller.ask('GET', '/sync/bootstrap');
    return status === 200 && text.includes('"type":"end"') ? null : refusalOf(status, text);
  },
};

let timers: NodeJS.Timeout[] = [];
const underWay = new Set<Promise<void>>();
let done = 0;

async function act(deed: Deed): Promise<void> {
  const [atMs, startedMs] = [Date.now(), performance.now()];
  done += 1;
  const refusal = await deeds[deed](done).catch(codeOf);
  tell({ type: 'sample', sample: { deed, atMs, tookMs: performance.now() - startedMs, refusal } });
}

parentPort?.on('message', (order: 'begin' | 'end') => {
  for (const timer of timers.splice(0)) clearInterval(timer);
  if (order === 'begin') {
    timers = DEEDS.map((deed) =>
      setInterval(() => {
        const acting = act(deed).finally(() => underWay.delete(acting));
        underWay.add(acting);
      }, 1000 / PER_SECOND[deed]),
    );
  } else void Promise.all(underWay).then(() => tell({ type: 'ended' }));
});

tell({ type: 'settled' });
