/** The process of an honest person: from `begin` to `end` it sends requests at a fixed pace, also while others are pending. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { webhookApi } from '@wts/contracts';
import { receiver, type ReceiverOptions } from '@wts/testkit';
import { serveCommands } from '@wts/testkit/worker';
import { codeOf } from './attacker.ts';
import { bodyOf, HttpCaller, CONTENT_MARK, type Transaction } from './http-caller.ts';
import { REQUEST_KINDS, type RequestKind, type RequestSample } from './samples.ts';

export type HonestCommand =
  | {
      readonly do: 'open';
      readonly baseUrl: string;
      readonly token: string;
      readonly identity: ReceiverOptions['identity'];
    }
  | { readonly do: 'begin' }
  /** Resolves when every request has its response. */
  | { readonly do: 'end' }
  /** Resolves to the samples since the last one. */
  | { readonly do: 'take' };

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

type Requests = Readonly<Record<RequestKind, (nth: number) => Promise<string | null>>>;

let requests: Requests | undefined;
const samples: RequestSample[] = [];
let timers: NodeJS.Timeout[] = [];
const pending = new Set<Promise<void>>();
let sent = 0;

serveCommands(async (command: HonestCommand) => {
  if (command.do === 'open') {
    requests = requestsOf(await prepare(command));
    return undefined;
  }
  if (command.do === 'take') return samples.splice(0);
  for (const timer of timers.splice(0)) clearInterval(timer);
  if (command.do === 'end') return void (await Promise.all(pending));
  if (requests === undefined) throw new Error('not open');
  const opened = requests;
  timers = REQUEST_KINDS.map((kind) =>
    setInterval(() => {
      const sending = send(kind, opened).finally(() => pending.delete(sending));
      pending.add(sending);
    }, 1000 / PER_SECOND[kind]),
  );
  return undefined;
});

async function send(kind: RequestKind, opened: Requests): Promise<void> {
  const [atMs, startedMs] = [Date.now(), performance.now()];
  sent += 1;
  const refusal = await opened[kind](sent).catch(codeOf);
  samples.push({ kind, atMs, tookMs: performance.now() - startedMs, refusal });
}

/** What an honest person has, and what they got. */
type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare({ baseUrl, token, identity }: Extract<HonestCommand, { do: 'open' }>) {
  const caller = new HttpCaller(baseUrl, token, { connections: CONNECTIONS });
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
  return { caller, workspaceId, start, ids, projects, arrivals };
}

/** Each resolves to null, or to what is wrong with the response. */
function requestsOf({ caller, workspaceId, start, ids, projects, arrivals }: Prepared): Requests {
  const query = JSON.stringify({
    query: 'query ($w: ID!) { tasks(first: 20, filter: { workspaceId: { eq: $w } }) { nodes { id title } } }',
    variables: { w: workspaceId },
  });
  const ask = async (method: string, path: string, expected: string, body?: string): Promise<string | null> => {
    const { status, text } = await caller.request(method, path, body === undefined ? {} : { body });
    return status === 200 && text.includes(expected)
      ? null
      : `${status} ${/"message":"([^"]*)"/.exec(text)?.[1] ?? text.slice(0, 100)}`;
  };
  const update = (modelName: string, modelId = '', change: Transaction['payload'] = {}): Promise<string | null> =>
    ask('POST', '/sync/mutate', '"success":true', bodyOf([{ action: 'UPDATE', modelName, modelId, payload: change }]));
  return {
    write: (nth) => update('Task', ids[nth % ids.length], { title: `${CONTENT_MARK} ${nth}` }),
    deltas: () => ask('GET', `/sync/deltas?after=${start}&limit=${PAGE}`, CONTENT_MARK),
    bootstrap: () => ask('GET', '/sync/bootstrap', '"type":"end"'),
    graphql: () => ask('POST', '/graphql', CONTENT_MARK, query),
    /** From the request to the arrival. */
    webhook: async (nth) => {
      const { promise, resolve } = Promise.withResolvers<null>();
      const change = { name: `${CONTENT_MARK} ${nth}` };
      arrivals.set(change.name, () => resolve(null));
      const refusal = await update('Project', projects[nth % projects.length], change);
      if (refusal !== null) return refusal;
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
}
