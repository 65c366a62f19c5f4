/**
 * `helm test`: makes one change, receives one on a socket, and has one webhook attempted, with a task and an endpoint that it deletes
 * again. Needs API_URL, WEBHOOK_URL ("off": no webhook) and the API key of an owner in API_KEY; Node runs it without anything else.
 * The webhook may get any HTTP answer: then the attempt has left the cluster and reached its receiver.
 */
const { API_URL = '', API_KEY = '', WEBHOOK_URL = 'off' } = process.env;
const WAIT_MS = 30_000;
const PAUSE_MS = 500;

interface Delivery {
  readonly attemptCount: number;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
}

interface Frame {
  readonly type: string;
  readonly packet?: { readonly actions: readonly { readonly syncId: string }[] };
}

try {
  await main();
  process.exit(0);
} catch (failure) {
  const { cause } = failure as Error;
  console.error(`FAILED: ${String(failure)}${cause instanceof Error ? ` (${cause.message})` : ''}`);
  process.exit(1);
}

async function main(): Promise<void> {
  const { workspaces } = await call<{ workspaces: readonly { id: string }[] }>('GET', '/api/workspaces');
  const [workspace] = workspaces;
  if (workspace === undefined) throw new Error('The API key sees no workspace.');
  const endpoint = WEBHOOK_URL === 'off' ? null : await createEndpoint(workspace.id);
  try {
    const taskId = crypto.randomUUID();
    const created = await mutate('INSERT', taskId, { workspaceId: workspace.id, title: 'helm test' });
    console.log(`ok: a change was committed at position ${created}`);
    const deleted = await receiveNext(created, () => mutate('DELETE', taskId, {}));
    console.log(`ok: a socket received position ${deleted}`);
    if (endpoint !== null) console.log(`ok: a webhook was attempted, and ${await answerOf(endpoint)}`);
  } finally {
    if (endpoint !== null) await call('DELETE', `/api/webhooks/${endpoint}`);
  }
}

async function createEndpoint(workspaceId: string): Promise<string> {
  const body = { workspaceId, url: WEBHOOK_URL, description: 'helm test', eventTypes: ['task.created'] };
  const { endpoint } = await call<{ endpoint: { id: string } }>('POST', '/api/webhooks', body);
  return endpoint.id;
}

async function mutate(action: string, modelId: string, payload: object): Promise<string> {
  const clientTxId = crypto.randomUUID();
  const { results } = await call<{ results: readonly { success: boolean; syncId: string }[] }>('POST', '/sync/mutate', {
    batchId: crypto.randomUUID(),
    transactions: [{ clientTxId, clientId: 'helm-test', action, modelName: 'Task', modelId, payload }],
  });
  const [result] = results;
  if (result?.success !== true) throw new Error(`${action} was refused: ${JSON.stringify(results)}`);
  return result.syncId;
}

/** Follows the log after a position, makes a change, and waits until the socket has it. */
async function receiveNext(after: string, change: () => Promise<string>): Promise<string> {
  const socket = new WebSocket(`${API_URL.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(API_KEY)}`);
  const received = new Set<string>();
  let isSubscribed = false;
  let isClosed = false;
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: after, token: API_KEY })),
  );
  for (const end of ['close', 'error']) socket.addEventListener(end, () => (isClosed = true));
  socket.addEventListener('message', ({ data }) => {
    const { type, packet } = JSON.parse(String(data)) as Frame;
    if (type === 'subscribed') isSubscribed = true;
    for (const { syncId } of packet?.actions ?? []) received.add(syncId);
  });
  const ifOpen = (condition: boolean): boolean => {
    if (isClosed) throw new Error('The socket was closed.');
    return condition;
  };
  await until('a socket to be subscribed', () => ifOpen(isSubscribed));
  const position = await change();
  await until(`position ${position} on the socket`, () => ifOpen(received.has(position)));
  socket.close();
  return position;
}

async function answerOf(endpoint: string): Promise<string> {
  let answer = '';
  await until('an attempt of the webhook', async () => {
    const path = `/api/webhooks/${endpoint}/deliveries`;
    const [delivery] = (await call<{ deliveries: readonly Delivery[] }>('GET', path)).deliveries;
    if (delivery === undefined || delivery.attemptCount === 0) return false;
    if (delivery.lastStatusCode === null) throw new Error(`${WEBHOOK_URL} was not reached: ${delivery.lastError}`);
    answer = `${WEBHOOK_URL} answered ${delivery.lastStatusCode}`;
    return true;
  });
  return answer;
}

async function until(what: string, isThere: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (!(await isThere())) {
    if (Date.now() > deadline) throw new Error(`Waited ${WAIT_MS / 1000} s for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${API_URL}${path}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(WAIT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}
