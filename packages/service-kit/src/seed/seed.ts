import type { ServiceName } from '@wts/contracts';
import type { Knex } from 'knex';
import type { CommitUnitSender } from '../call/commit-unit.ts';
import { commitUnitSender } from '../call/commit-unit.ts';
import { createServiceClient } from '../call/service-client.ts';
import { serviceSettings } from '../config/service-settings.ts';
import type { Setting } from '../config/settings.ts';
import { parseSettings } from '../config/settings.ts';
import { createLogger } from '../observe/logger.ts';
import { openPostgres } from '../postgres/postgres.ts';

interface SeedConfig {
  readonly databaseUrl: string;
  readonly syncUrls: readonly string[];
}

/** A script that creates the demo data of one service. */
interface SeedDefinition<C> {
  readonly service: ServiceName;
  readonly settings: { readonly [K in keyof C]: Setting<C[K]> };
  /** Creates what is missing. */
  readonly seed: (stores: { readonly knex: Knex; readonly commitUnit: CommitUnitSender }, config: C) => Promise<object>;
}

/**
 * The whole of a service's `seed.ts`: opens its database and the sync service, and prints the result as one line of JSON. Logs go to
 * stderr, because stdout is the result.
 */
export async function runSeed<C extends SeedConfig>({ service, settings, seed }: SeedDefinition<C>): Promise<void> {
  const { env, stdout, stderr } = process;
  const { internalTokenSecret } = serviceSettings;
  const config = parseSettings({ internalTokenSecret, ...settings }, env) as C & {
    readonly internalTokenSecret: string;
  };
  const name = `${service}-seed`;
  const log = createLogger({ name, level: 'warn', destination: stderr });
  await using stack = new AsyncDisposableStack();
  const { knex } = openPostgres({ url: config.databaseUrl, poolMax: 1, applicationName: `wts-${name}`, log, stack });
  const { syncUrls: urls, internalTokenSecret: secret } = config;
  const sync = createServiceClient({ name: 'sync', urls, secret, self: service, log });
  stack.defer(() => sync.close());
  stdout.write(`${JSON.stringify(await seed({ knex, commitUnit: commitUnitSender(sync) }, config))}\n`);
}
