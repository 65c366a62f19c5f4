/**
 * `helm test`: makes one change, receives one on a socket, and has one webhook attempted, with a task and an endpoint that it deletes
 * again. Needs API_URL, WEBHOOK_URL ("off": no webhook) and the API key of an owner in API_KEY; runs on Node alone. The webhook may
 * get any HTTP answer: the attempt has then left the cluster, and its receiver was reached.
 */
const { API_URL = '', API_KEY = '', WEBHOOK_URL = 'off' } = process.env;
const WAIT_MS = 30_000;
const PAUSE_MS = 500;

try {
  await main();
} catch (failure) {
  console.error(`FAILED: ${failure instanceof Error ? failure.message : failure}`);
  process.exit(1);
}

async function main() {
  const { workspaces } = await call('GET', '/api/workspaces');
  const workspaceId = workspaces?.[0]?.id;
  if (workspaceId === undefined) throw new Error('The API key sees no workspace.');
  const endpoint = WEBHOOK_URL === 'off' ? null : await createEndpoint(workspaceId);
  try {
    const taskId = crypto.randomUUID();
    const created = await mutate('INSERT', taskId, { workspaceId, title: 'helm test' });
    console.log(`ok: a change was committed at position ${created}`);
    const deleted = await receiveNext(created, () => mutate('DELETE', taskId, {}));
    console.log(`ok: a socket received position ${deleted}`);
    if (endpoint !== null) console.log(`ok: a webhook was attempted, and ${await answerOf(endpoint)}`);
  } finally {
    if (endpoint !== null) await call('DELETE', `/api/webhooks/${endpoint}`);
  }
  process.exit(0);
}

/** @param {string} workspaceId */
async function createEndpoint(workspaceId) {
  const body = { workspaceId, url: WEBHOOK_URL, description: 'helm test', eventTypes: ['task.created'] };
  const { endpoint } = await call('POST', '/api/webhooks', body);
  return endpoint.id;
}

/**
 * @param {string} action
 * @param {string} modelId
 * @param {object} payload
 */
async function mutate(action, modelId, payload) {
  const transaction = {
    clientTxId: crypto.randomUUID(),
    clientId: 'helm-test',
    action,
    modelName: 'Task',
    modelId,
    payload,
  };
  const { results } = await call('POST', '/sync/mutate', { batchId: crypto.randomUUID(), transactions: [transaction] });
  const [result] = results;
  if (!result.success) throw new Error(`${action} was refused: ${JSON.stringify(result.error)}`);
  return result.syncId;
}

/**
 * Follows the log after a position, makes a change, and waits until the socket has it.
 * @param {string} after
 * @param {() => Promise<string>} change
 */
async function receiveNext(after, change) {
  const socket = new WebSocket(`${API_URL.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(API_KEY)}`);
  const received = new Set();
  let isSubscribed = false;
  let isClosed = false;
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: after, token: API_KEY })),
  );
  socket.addEventListener('close', () => (isClosed = true));
  socket.addEventListener('error', () => (isClosed = true));
  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(data);
    if (frame.type === 'subscribed') isSubscribed = true;
    for (const { syncId } of frame.packet?.actions ?? []) received.add(syncId);
  });
  const open = (/** @type {boolean} */ condition) => {
    if (isClosed) throw new Error('The socket was closed.');
    return condition;
  };
  await until('a socket to be subscribed', async () => open(isSubscribed));
  const position = await change();
  await until(`position ${position} on the socket`, async () => open(received.has(position)));
  socket.close();
  return position;
}

/** @param {string} endpoint */
async function answerOf(endpoint) {
  let answer = '';
  await until('an attempt of the webhook', async () => {
    const { deliveries } = await call('GET', `/api/webhooks/${endpoint}/deliveries`);
    const [delivery] = deliveries;
    if (delivery === undefined || delivery.attemptCount === 0) return false;
    if (delivery.lastStatusCode === null) throw new Error(`${WEBHOOK_URL} was not reached: ${delivery.lastError}`);
    answer = `${WEBHOOK_URL} answered ${delivery.lastStatusCode}`;
    return true;
  });
  return answer;
}

/**
 * @param {string} what
 * @param {() => Promise<boolean>} isThere
 */
async function until(what, isThere) {
  const deadline = Date.now() + WAIT_MS;
  while (!(await isThere())) {
    if (Date.now() > deadline) throw new Error(`Waited ${WAIT_MS / 1000} s for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 */
async function call(method, path, body) {
  const response = await fetch(`${API_URL}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(WAIT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
