/** `npm run watch`: prints every change the demo key may see, as it happens. */
import { STACK_FILE } from './layout.ts';
import { Refusal } from './refusal.ts';
import { readStackFile } from './stack-file.ts';
import { runTask } from './task.ts';

interface Frame {
  readonly type: string;
  readonly groups?: readonly string[];
  readonly packet?: {
    readonly actions: readonly { syncId: string; action: string; modelName: string; modelId: string; data: object }[];
  };
}

const RETRY_MS = 1_000;

await runTask(async () => {
  const stack = readStackFile();
  if (stack === null)
    throw new Refusal(`Nothing runs here (there is no ${STACK_FILE}). Start it in another terminal: npm start`);
  const token = process.argv[2] ?? stack.apiKey;
  let cursor = process.argv[3] ?? (await head(stack.baseUrl, token));
  const connect = () => {
    const socket = new WebSocket(`${stack.baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(token)}`);
    socket.addEventListener('open', () => {
      socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: cursor, token }));
    });
    socket.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(String(data)) as Frame;
      if (frame.type === 'subscribed') console.log(`Watching from ${cursor} on. Ctrl-C ends it.`);
      else if (frame.type === 'error') console.log(JSON.stringify(frame));
      for (const { syncId, action, modelName, modelId, data: change } of frame.packet?.actions ?? []) {
        cursor = syncId;
        console.log(
          `${syncId.padStart(6)}  ${action.padEnd(9)} ${modelName} ${modelId}  ${JSON.stringify(telling(change))}`,
        );
      }
    });
    // The log is gapless: after a loss of the connection the cursor brings what was missed.
    socket.addEventListener('close', () => void setTimeout(connect, RETRY_MS));
  };
  connect();
  return 'until stopped';
});

/** What a person wants to see of a change: no empty fields, nothing the line says already. */
function telling(change: object): object {
  const said = new Set(['id', 'workspaceId', 'createdAt', 'updatedAt']);
  return Object.fromEntries(
    Object.entries(change).filter(
      ([field, value]) => !said.has(field) && value !== '' && (value !== null || !('id' in change)),
    ),
  );
}

/** Where the log ends now, so that watching begins with what comes next. */
async function head(baseUrl: string, token: string): Promise<string> {
  let after = '0';
  for (;;) {
    const answer = await fetch(`${baseUrl}/sync/deltas?after=${after}&limit=5000`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (!answer.ok) throw new Refusal(`${baseUrl} answers ${answer.status}: ${await answer.text()}`);
    const page = (await answer.json()) as { lastSyncId: string; hasMore: boolean };
    after = page.lastSyncId;
    if (!page.hasMore) return after;
  }
}
