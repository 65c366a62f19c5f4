/** `npm run watch`: prints every change the demo key may see, as it happens. */
import { SyncClient } from '@wts/client';
import type { SyncEvent } from '@wts/client';
import { STACK_FILE } from './layout.ts';
import { Refusal } from './refusal.ts';
import { readStackFile } from './stack-file.ts';
import { runTask } from './task.ts';

await runTask(async () => {
  const stack = readStackFile();
  if (stack === null)
    throw new Refusal(`The service is not running (${STACK_FILE} not found). Start it in another terminal: npm start`);
  const client = new SyncClient({ baseUrl: stack.baseUrl, token: process.argv[2] ?? stack.apiKey });
  const after = process.argv[3] ?? (await head(client));
  printAll(client.follow({ after })).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
  return 'until stopped';
});

async function printAll(events: AsyncIterable<SyncEvent>): Promise<void> {
  for await (const event of events) print(event);
}

function print(event: SyncEvent): void {
  if (event.type === 'subscribed') console.log('Watching. Press Ctrl-C to stop.');
  else if (event.type === 'offline') console.log(`No connection (${event.error.message}); it is tried again.`);
  else if (event.type === 'reset') console.log('The log does not hold what follows; going on from where it is now.');
  else if (event.type === 'delta') {
    for (const { syncId, action, modelName, modelId, data } of event.actions) {
      const change = JSON.stringify(telling(data));
      console.log(`${syncId.padStart(6)}  ${action.padEnd(9)} ${modelName} ${modelId}  ${change}`);
    }
  }
}

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
async function head(client: SyncClient): Promise<string> {
  let page = await client.deltas('0', { limit: 5000 }).catch(refuse);
  while (page.hasMore) page = await client.deltas(page.lastSyncId, { limit: 5000 }).catch(refuse);
  return page.lastSyncId;
}

function refuse(error: unknown): never {
  throw new Refusal(error instanceof Error ? error.message : String(error));
}
