import { readFile } from 'node:fs/promises';

/** The addresses of a running system and its stores. */
export interface RunningSystem {
  readonly baseUrl: string;
  readonly token: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
}

/** Reads them from the environment, or else from the stack that `npm start` runs here. */
export async function findSystem(env: NodeJS.ProcessEnv): Promise<RunningSystem> {
  const local = await readFile('.local/stack.json', 'utf8').then(
    (text) => JSON.parse(text) as { baseUrl: string; apiKey: string; databaseUrl: string; natsUrl: string },
    () => null,
  );
  const baseUrl = env['BASE_URL'] ?? local?.baseUrl;
  const token = env['API_KEY'] ?? local?.apiKey;
  const databaseUrl = env['DATABASE_URL'] ?? local?.databaseUrl;
  const natsUrl = env['NATS_URL'] ?? local?.natsUrl;
  if (baseUrl === undefined || token === undefined || databaseUrl === undefined || natsUrl === undefined) {
    throw new Error(
      'The service is not running. Start it with npm start, or set BASE_URL, API_KEY, DATABASE_URL and NATS_URL for another system.',
    );
  }
  return { baseUrl, token, databaseUrl, natsUrl };
}
