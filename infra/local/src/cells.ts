/** A second cell for `npm start`: services, a database and a NATS server of its own, beside the first one and with its auth. */
import type { NatsUser } from '@wts/contracts';
import { join } from 'node:path';
import { migrateServices } from './database/migrate.ts';
import { provision, type Database, type ProvisionOptions } from './database/provision.ts';
import { PATHS, START_DIRECTORY } from './layout.ts';
import { nextFreePort } from './processes/ports.ts';
import { openNats, type NatsServer } from './servers/nats.ts';
import { Stack, type StackOptions } from './stack.ts';

export interface Cell {
  readonly shard: number;
  readonly services: Stack;
  readonly database: Database;
  readonly natsUrlOf: (user: NatsUser) => string;
  /** Null when NATS_URL names that of the user. */
  readonly nats: NatsServer | null;
}

interface CellOptions {
  readonly first: Stack;
  /** The database of the first cell, and that of auth. */
  readonly beside: ProvisionOptions;
  /** As for the first cell. */
  readonly plan: Omit<StackOptions, 'database' | 'natsUrlOf' | 'ports'>;
}

const SHARD = 1;
const API_PORT = 4010;

/** Plans its services, after those of the first cell. */
export async function openCell(stack: AsyncDisposableStack, { first, beside, plan }: CellOptions): Promise<Cell> {
  const { env, secrets } = plan;
  const name = `cell${SHARD}`;
  const database = await provision({ ...beside, name: `${beside.name}_${name}` });
  const nats = env['NATS_URL']
    ? null
    : stack.use(
        await openNats({
          ...plan,
          directory: join(START_DIRECTORY, `nats-${name}`),
          log: join(PATHS.logs, `${name}-nats.log`),
          password: secrets.natsPassword,
          shard: SHARD,
        }),
      );
  const natsUrlOf = nats?.urlOf ?? (() => env['NATS_URL'] ?? '');
  await migrateServices(database, env);
  const ports = { api: await nextFreePort(API_PORT), auth: 0 };
  const services = await Stack.plan({ ...plan, database, natsUrlOf, ports, cell: { shard: SHARD, first } });
  return { shard: SHARD, services, database, natsUrlOf, nats };
}
