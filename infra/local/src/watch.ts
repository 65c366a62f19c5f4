/** `npm run watch`: prints every change that the demo key may see, as it happens. */
import { SyncClient } from '@wts/client';
import type { SyncEvent } from '@wts/client';
import { STACK_FILE } from './layout.ts';
import { UserError } from './user-error.ts';
import { readStackFile } from './stack-file.ts';
import { runTask } from './task.ts';

await runTask(async () => {
  const stack = readStackFile();
  if (stack === null)
    throw new UserError(
      `The service is not running (${STACK_FILE} does not exist). Start it in another terminal: npm start`,
    );
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
  else if (event.type === 'offline') console.log(`Disconnected (${event.error.message}). Trying again.`);
  else if (event.type === 'reset') console.log('The log no longer has the next changes. Continuing with new changes.');
  else if (event.type === 'delta') {
    for (const { syncId, action, modelName, modelId, data } of event.actions) {
      const change = JSON.stringify(visibleFields(data));
      console.log(`${syncId.padStart(6)}  ${action.padEnd(9)} ${modelName} ${modelId}  ${change}`);
    }
  }
}

/** Leaves out empty fields, and fields that the line shows or that never matter. */
function visibleFields(change: object): object {
  const hidden = new Set(['id', 'workspaceId', 'createdAt', 'updatedAt']);
  return Object.fromEntries(
    Object.entries(change).filter(
      ([field, value]) => !hidden.has(field) && value !== '' && (value !== null || !('id' in change)),
    ),
  );
}

/** The head of the log, after which watching begins. */
async function head(client: SyncClient): Promise<string> {
  let page = await client.deltas('0', { limit: 5000 }).catch(rethrow);
  while (page.hasMore) page = await client.deltas(page.lastSyncId, { limit: 5000 }).catch(rethrow);
  return page.lastSyncId;
}

function rethrow(error: unknown): never {
  throw new UserError(error instanceof Error ? error.message : String(error));
}
