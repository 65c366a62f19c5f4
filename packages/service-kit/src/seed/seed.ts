import { parsePrivateKey, tokenMinter } from '@wts/access';
import type { ServiceName } from '@wts/contracts';
import type { Knex } from 'knex';
import { commitUnitSender, type CommitUnitSender } from '../call/commit-unit.ts';
import { createServiceClient } from '../call/service-client.ts';
import type { CallerConfig } from '../config/service-settings.ts';
import { parseSettings, type Setting } from '../config/settings.ts';
import { createLogger } from '../observe/logger.ts';
import { openPostgres } from '../postgres/postgres.ts';

interface SeedConfig extends CallerConfig {
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
  const config = parseSettings(settings, env) as C;
  const name = `${service}-seed`;
  const log = createLogger({ name, level: 'warn', destination: stderr });
  await using stack = new AsyncDisposableStack();
  const { knex } = openPostgres({ url: config.databaseUrl, poolMax: 1, applicationName: `wts-${name}`, log, stack });
  const key = parsePrivateKey(config.internalTokenKey);
  const mintToken = tokenMinter({ from: service, to: 'sync', key });
  const sync = createServiceClient({ name: 'sync', urls: config.syncUrls, self: service, mintToken, log });
  stack.defer(() => sync.close());
  stdout.write(`${JSON.stringify(await seed({ knex, commitUnit: commitUnitSender(sync) }, config))}\n`);
}
