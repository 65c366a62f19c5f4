import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { STACK_FILE } from './layout.ts';
import type { DemoWorkspace } from './secrets.ts';
import type { Cell } from './cells.ts';
import type { Stack } from './stack.ts';
import { LOCAL_JWT } from './local-jwt.ts';

/** The content of `.local/stack.json` while `npm start` runs: everything a tool needs to use the system. It has secrets. */
export interface StackFile extends DemoWorkspace {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly jwt: { readonly issuer: string; readonly audience: string; readonly secret: string };
  readonly databaseUrl: string;
  readonly authDatabaseUrl: string;
  readonly natsUrl: string;
  /** Where the mails of the system are; null when SMTP_URL names another server. */
  readonly mailUrl: string | null;
  /** Receivers on this machine show a certificate of this authority. */
  readonly webhooks: { readonly caFile: string };
  /** Cells beside the one that the other addresses are of. */
  readonly cells: readonly {
    readonly shard: number;
    readonly baseUrl: string;
    readonly databaseUrl: string;
    readonly natsUrl: string;
  }[];
  readonly services: {
    readonly [name: string]: {
      readonly url: string;
      /** For Prometheus. */
      readonly metrics: string | null;
      readonly pid: number | null;
      readonly log: string;
    };
  };
}

interface Surroundings extends Pick<StackFile, 'databaseUrl' | 'authDatabaseUrl' | 'natsUrl' | 'mailUrl' | 'webhooks'> {
  readonly jwtSecret: string;
}

export function describeStack(
  stack: Stack,
  cells: readonly Cell[],
  demo: DemoWorkspace,
  { jwtSecret, ...around }: Surroundings,
): StackFile {
  return {
    baseUrl: stack.baseUrl,
    authUrl: stack.authUrl,
    ...demo,
    jwt: { ...LOCAL_JWT, secret: jwtSecret },
    ...around,
    cells: cells.map(({ shard, services, database, natsUrlOf }) => ({
      shard,
      baseUrl: services.baseUrl,
      databaseUrl: database.adminUrl,
      natsUrl: natsUrlOf('verify'),
    })),
    services: Object.fromEntries(
      [stack, ...cells.map(({ services }) => services)].flatMap((one) =>
        one.services.map(({ name, url, pid, log }) => [name, { url, metrics: one.metricsUrlOf(name), pid, log }]),
      ),
    ),
  };
}

export function writeStackFile(description: StackFile): void {
  writeFileSync(`${STACK_FILE}.new`, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${STACK_FILE}.new`, STACK_FILE);
}

export function readStackFile(): StackFile | null {
  try {
    return JSON.parse(readFileSync(STACK_FILE, 'utf8')) as StackFile;
  } catch {
    return null;
  }
}

export function removeStackFile(): void {
  rmSync(STACK_FILE, { force: true });
}
