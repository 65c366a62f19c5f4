import { Client, type ClientConfig } from 'pg';

/** A client that disconnects at the end of its block. When it loses the server, its current query or the next one rejects. */
export async function connectTo(
  connectionString: string,
  options: ClientConfig = {},
): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString, ...options });
  // Without a handler, the end of the server would end this process.
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
