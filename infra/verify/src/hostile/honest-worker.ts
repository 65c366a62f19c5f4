/** The thread of an honest person: from `begin` to `end` it sends requests at a fixed pace, also while others are pending. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { webhookApi } from '@wts/contracts';
import { receiver, type ReceiverOptions } from '@wts/testkit';
import { codeOf } from './attacker.ts';
import { bodyOf, HttpCaller, CONTENT_MARK } from './http-caller.ts';
import { REQUEST_KINDS, type RequestKind, type RequestSample } from './samples.ts';

export type WorkerMessage =
  | { readonly type: 'started' | 'ended' }
  | { readonly type: 'sample'; readonly sample: RequestSample };

/** A client in use writes more often than it polls, and loads a snapshot only when it starts. */
const PER_SECOND: Readonly<Record<RequestKind, number>> = {
  write: 20,
  deltas: 10,
  bootstrap: 5,
  graphql: 10,
  webhook: 5,
};
const ARRIVES_WITHIN_MS = 15_000;
const TASKS = 200;
const PAGE = 100;
const CONNECTIONS = 512;

const { baseUrl, token, identity } = workerData as { baseUrl: string; token: string } & Pick<
  ReceiverOptions,
  'identity'
>;
const caller = new HttpCaller(baseUrl, token, { connections: CONNECTIONS });
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const post = (message: WorkerMessage): void => parentPort?.postMessage(message);

const workspaceId = await caller.createWorkspace();
const payload = { workspaceId, title: CONTENT_MARK };
const { lastSyncId: start } = await caller.commit([
  { action: 'INSERT', modelName: 'Label', modelId: randomUUID(), payload: { workspaceId, name: 'Beginning' } },
]);
const ids = await caller.insertMany(TASKS, 100, { modelName: 'Task', payload });

/** What arrives at the endpoint, by the name that the change gave. */
const arrivals = new Map<string, () => void>();
const consumer = await receiver({ ...(identity && { identity }), stores: false });
consumer.answer(({ body }) => {
  const { data } = JSON.parse(body) as { data: { object: { name: string } } };
  arrivals.get(data.object.name)?.();
  return { status: 204 };
});
const endpoint = JSON.stringify({ url: consumer.url, workspaceId, eventTypes: ['project.updated'] });
const created = await caller.request('POST', webhookApi.createEndpoint.path, { body: endpoint });
if (created.status !== 201) throw new Error(`creating an endpoint answered ${created.status}: ${created.text}`);
/** Other records than those of writes, which are not delivered. */
const projects = await Promise.all(
  Array.from({ length: 20 }, (_, n) =>
    caller.insert('Project', { workspaceId, key: `P${String.fromCharCode(65 + n)}`, name: CONTENT_MARK }),
  ),
);

const query = JSON.stringify({
  query: 'query ($w: ID!) { tasks(first: 20, filter: { workspaceId: { eq: $w } }) { nodes { id title } } }',
  variables: { w: workspaceId },
});

const refusalOf = (status: number, text: string): string =>
  `${status} ${/"message":"([^"]*)"/.exec(text)?.[1] ?? text.slice(0, 100)}`;

/** Resolves to null, or to what is wrong with the response. */
const requests: Readonly<Record<RequestKind, (nth: number) => Promise<string | null>>> = {
  write: async (nth) => {
    const change = { title: `${CONTENT_MARK} ${nth}` };
    const modelId = ids[nth % ids.length] ?? '';
    const body = bodyOf([{ action: 'UPDATE', modelName: 'Task', modelId, payload: change }]);
    const { status, text } = await caller.request('POST', '/sync/mutate', { body });
    return status === 200 && text.includes('"success":true') ? null : refusalOf(status, text);
  },
  deltas: async () => {
    const { status, text } = await caller.request('GET', `/sync/deltas?after=${start}&limit=${PAGE}`);
    return status === 200 && text.includes(CONTENT_MARK) ? null : refusalOf(status, text);
  },
  bootstrap: async () => {
    const { status, text } = await caller.request('GET', '/sync/bootstrap');
    return status === 200 && text.includes('"type":"end"') ? null : refusalOf(status, text);
  },
  graphql: async () => {
    const { status, text } = await caller.request('POST', '/graphql', { body: query });
    return status === 200 && text.includes(CONTENT_MARK) ? null : refusalOf(status, text);
  },
  /** From the request to the arrival. */
  webhook: async (nth) => {
    const modelId = projects[nth % projects.length] ?? '';
    const { promise, resolve } = Promise.withResolvers<null>();
    const change = { name: `${CONTENT_MARK} ${nth}` };
    arrivals.set(change.name, () => resolve(null));
    const body = bodyOf([{ action: 'UPDATE', modelName: 'Project', modelId, payload: change }]);
    const { status, text } = await caller.request('POST', '/sync/mutate', { body });
    if (status !== 200 || !text.includes('"success":true')) return refusalOf(status, text);
    const late = new AbortController();
    const found = await Promise.race([
      promise,
      pause(ARRIVES_WITHIN_MS, 'the webhook did not arrive', { signal: late.signal }).catch(() => null),
    ]);
    late.abort();
    arrivals.delete(change.name);
    return found;
  },
};

let timers: NodeJS.Timeout[] = [];
const pending = new Set<Promise<void>>();
let sent = 0;

async function send(kind: RequestKind): Promise<void> {
  const [atMs, startedMs] = [Date.now(), performance.now()];
  sent += 1;
  const refusal = await requests[kind](sent).catch(codeOf);
  post({ type: 'sample', sample: { kind, atMs, tookMs: performance.now() - startedMs, refusal } });
}

parentPort?.on('message', (command: 'begin' | 'end') => {
  for (const timer of timers.splice(0)) clearInterval(timer);
  if (command === 'begin') {
    timers = REQUEST_KINDS.map((kind) =>
      setInterval(() => {
        const sending = send(kind).finally(() => pending.delete(sending));
        pending.add(sending);
      }, 1000 / PER_SECOND[kind]),
    );
  } else void Promise.all(pending).then(() => post({ type: 'ended' }));
});

post({ type: 'started' });
