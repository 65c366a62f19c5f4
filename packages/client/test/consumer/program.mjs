// Uses the installed package as a program does: prints what it gets from the server of the test.
import { RefusedError, SyncClient, verifyWebhook } from '@wts/client';

const { baseUrl, ws, delivery } = JSON.parse(process.argv[2]);
const { WebSocket: OtherSocket } = await import(ws);
const platform = new SyncClient({ baseUrl, token: 'key' });
const other = new SyncClient({ baseUrl, token: 'key', openSocket: (url) => new OtherSocket(url) });

const follow = async (client) => {
  const seen = [];
  try {
    for await (const event of client.follow()) {
      seen.push(event.type);
      if (event.type === 'delta') break;
    }
  } catch (error) {
    seen.push(error.message);
  }
  return seen;
};

const change = { modelName: 'Task', modelId: crypto.randomUUID(), action: 'DELETE' };
const refusal = await platform.mutateOrThrow([change]).catch((error) => error);
console.log(
  JSON.stringify({
    refused: refusal instanceof RefusedError && refusal.message,
    event: (await verifyWebhook(delivery.secret, delivery.headers, Buffer.from(delivery.body))).id,
    platform: await follow(platform),
    other: await follow(other),
  }),
);
