import { readFile } from 'node:fs/promises';

/** What callers use of a running system. */
export interface PublicSystem {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly token: string;
}

/** The addresses of a running system and its stores. */
export interface RunningSystem {
  readonly baseUrl: string;
  readonly token: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /** The number of the cell. */
  readonly shard: number;
}

const VARIABLES = {
  baseUrl: 'BASE_URL',
  authUrl: 'AUTH_URL',
  apiKey: 'API_KEY',
  databaseUrl: 'DATABASE_URL',
  natsUrl: 'NATS_URL',
} as const;
type Name = keyof typeof VARIABLES;

export async function findSystem(env: NodeJS.ProcessEnv): Promise<RunningSystem> {
  const { apiKey: token, ...system } = await find(env, ['baseUrl', 'apiKey', 'databaseUrl', 'natsUrl']);
  return { token, ...system, shard: Number(env.SHARD ?? 0) };
}

export async function findPublicSystem(env: NodeJS.ProcessEnv): Promise<PublicSystem> {
  const { apiKey: token, ...system } = await find(env, ['baseUrl', 'authUrl', 'apiKey']);
  return { token, ...system };
}

/** Reads them from the environment, or else from the stack that `npm start` runs here. */
async function find<N extends Name>(env: NodeJS.ProcessEnv, names: readonly N[]): Promise<Record<N, string>> {
  const local = await readFile('.local/stack.json', 'utf8').then(
    (text) => JSON.parse(text) as Partial<Record<Name, string>>,
    () => null,
  );
  const found = names.map((name) => [name, env[VARIABLES[name]] ?? local?.[name]]);
  if (found.some(([, value]) => value === undefined)) {
    const variables = new Intl.ListFormat('en').format(names.map((name) => VARIABLES[name]));
    throw new Error(`The service is not running. Start it with npm start, or set ${variables} for another system.`);
  }
  return Object.fromEntries(found) as Record<N, string>;
}
