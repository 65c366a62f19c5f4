import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { serveCommands } from '@wts/testkit/worker';

export interface PostGraphileCommand {
  readonly do: 'open';
  readonly databaseUrl: string;
  readonly schemas: readonly string[];
}

/** As many connections to PostgreSQL as the graph service has. */
const POOL_MAX = 10;

/** PostGraphile as in production, over the tables of the models, without checks of who may see what. Returns its address. */
serveCommands(async ({ databaseUrl, schemas }: PostGraphileCommand) => {
  process.env['GRAPHILE_ENV'] = 'production';
  const instance = postgraphile({
    extends: [PostGraphileAmberPreset],
    // It otherwise leaves out orders and conditions by columns without an index of their own.
    disablePlugins: ['PgIndexBehaviorsPlugin'],
    pgServices: [
      makePgService({ connectionString: databaseUrl, schemas: [...schemas], poolConfig: { max: POOL_MAX } }),
    ],
    grafast: { explain: false },
    grafserv: { graphiql: false, watch: false },
  });
  const service = instance.createServ(grafserv);
  const server = createServer();
  await service.addTo(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
