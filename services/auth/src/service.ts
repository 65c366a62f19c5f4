import { issuerOf } from '@wts/access';
import { parseReplaySecrets } from '@wts/service-kit/config';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import type { ServiceContext, ServiceDefinition } from '@wts/service-kit/life';
import { idempotencyKeys, openServicePostgres } from '@wts/service-kit/postgres';
import { createApp, idempotency, notFoundAndErrors } from '@wts/service-kit/routes';
import { openCells, openRevocations } from './cells/cells.ts';
import type { Knex } from 'knex';
import { settings, type Config } from './config.ts';
import { DirectoryRoles, openDirectory } from './directory/directory.ts';
import { keepDirectory } from './directory/keep-directory.ts';
import { PersonCopies } from './directory/person-copies.ts';
import { sessionsOfPeople } from './directory/sessions.ts';
import type { Context } from './context.ts';
import { mountAccess } from './http/access.ts';
import { mountApiKeys } from './http/api-keys.ts';
import { mountCells } from './http/cells.ts';
import { mountCredentials } from './http/credentials.ts';
import { mountMetadata } from './http/metadata.ts';
import { mountOperator } from './http/operator.ts';
import { mountPages } from './http/pages.ts';
import { mountRegister } from './http/register.ts';
import { mountToken } from './http/token.ts';
import { openKeyUse } from './credentials/key-use.ts';
import { runMoves } from './moves/run-moves.ts';
import { openMail } from './mail/open-mail.ts';
import { serviceMetrics } from './metrics.ts';
import { openOAuth } from './oauth/oauth.ts';
import { cellStore } from './store/cells.ts';
import { identityStore } from './store/identities.ts';
import { openOperator, openPeople } from './open-contexts.ts';
import { mailLinkStore } from './store/mail-links.ts';
import { mailStore } from './store/mails.ts';
import { moveStore } from './store/moves.ts';
import { personCellStore } from './store/person-cells.ts';
import { revocationReads } from './store/revocations.ts';
import { openSecurityRecord } from './record/security-record.ts';
import { resealAll } from './store/sealed-tables.ts';
import type { FactorOptions } from './store/second-factors.ts';
import { openStores } from './store/stores.ts';
import { workspaceAccessReads } from './store/workspace-access.ts';
import { maintainTables } from './store/table-maintenance.ts';

/**
 * The one place that knows who calls: identities and API keys, sign-in, and the OAuth 2.1 authorization server of {auth_url}. Its
 * tables are not synced to clients; people are records of the sync service.
 */
export const authService: ServiceDefinition<Config> = {
  name: 'auth',
  settings,
  async open(kit, config) {
    const { log, stack } = kit;
    const { knex, pool } = await openServicePostgres(kit, config);
    const ofCells = openOfCells(kit, config, knex);
    const { cells, directory } = ofCells;
    const workspacesOf: FactorOptions['workspacesOf'] = async (userId) => {
      const { found, away } = await directory.workspacesOf(userId);
      const shards = cells.all.filter(({ baseUrl }) => away.includes(baseUrl)).map(({ shard }) => shard);
      return { ids: found.map(({ id }) => id), away: shards };
    };
    const storing = { ...config, workspacesOf };
    const { events, keys, sessions, factors, policies } = openStores(knex, storing);
    const metrics = serviceMetrics(kit.metrics);
    const issuer = issuerOf(config.authUrl);
    const mail = openMail({ kit, config, knex, issuer });
    const record = openSecurityRecord(knex, { ...storing, log, metrics, notify: mail.notices.onEvent });
    mail.start(record);
    const context: Context = {
      roles: new DirectoryRoles(directory),
      ...ofCells,
      identities: identityStore(knex),
      keys,
      record,
      factors,
      policies,
      issuer,
      revocations: revocationReads(knex),
      idempotency: idempotency(idempotencyKeys(knex, 'auth.idempotency_keys'), parseReplaySecrets(config.replaySecret)),
      apiKeyPrefix: config.apiKeyPrefix,
      commitUnit: cells.home.commitUnit,
      revoke: openRevocations(kit, config),
      keyUse: stack.use(openKeyUse(kit, keys)),
      mailer: mail.mailer,
      notices: mail.notices,
      metrics,
    };
    const oauth = openOAuth({ config, cells: cells.all, knex, record, revoke: context.revoke, log });
    stack.use(
      maintainTables(kit, {
        databaseUrl: config.databaseUrl,
        tasks: [
          () => oauth.keys.rotate(),
          () => oauth.grantStore.deleteEnded(),
          () => oauth.clients.deleteUnused(),
          () => keys.deleteRevoked(),
          () => events.deleteOlder(config.recordDays),
          () => mailLinkStore(knex).deleteEnded(),
          () => mailStore(knex).deleteEnded(),
          ...(config.hasAccounts ? [] : [() => oauth.grants.revokeOfAccounts()]),
          () => resealAll(pool, parseSecretKeys(config.secretKey), log),
        ],
      }),
    );
    const people = openPeople({ config, knex, context, sessions: sessionsOfPeople(sessions, context), oauth });
    const app = createApp(kit);
    mountCells(app, context);
    mountApiKeys(app, context);
    mountAccess(app, { ...people, access: workspaceAccessReads(knex) });
    mountCredentials(app, people);
    mountMetadata(app, oauth);
    mountRegister(app, oauth);
    mountToken(app, oauth);
    mountPages(app, people);
    mountOperator(app, openOperator(knex, people));
    notFoundAndErrors(app);
    return { app, host: config.host, port: config.port };
  },
};

/** The cells with their directory, which is kept in the background where there are several. */
function openOfCells(
  kit: ServiceContext,
  config: Config,
  knex: Knex,
): Pick<Context, 'cells' | 'directory' | 'workspaceCells' | 'copyPerson'> {
  const { stack } = kit;
  const cells = openCells(kit, config);
  const workspaceCells = cellStore(knex);
  const directory = openDirectory(cells, workspaceCells);
  const copies = new PersonCopies(directory.cells, personCellStore(knex));
  if (!cells.isOne) {
    const options = { databaseUrl: config.databaseUrl, directory, workspaceCells, copies };
    stack.use(keepDirectory(kit, options));
    stack.use(runMoves(kit, { ...options, moves: moveStore(knex) }));
  }
  return { cells, directory, workspaceCells, copyPerson: (userId, shard) => copies.copy(userId, shard) };
}
