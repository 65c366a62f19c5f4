import { newSecrets, passwordsSql, secretKey, SERVICES, tokenSettings, type SecretValues } from '@wts/local';
import { connectTo, eventually, openWire, startTestSystem, testNats, type TestSystem, type Wire } from '@wts/testkit';

const SETTINGS = [
  'INTERNAL_TOKEN_KEY',
  'INTERNAL_TOKEN_PUBLIC_KEYS',
  'REPLAY_SECRET',
  'AUTH_SECRET_KEY',
  'WEBHOOK_SECRET_KEY',
  'JWT_ISSUERS',
  'DATABASE_URL',
  'DATABASE_OTHER_PASSWORD',
  'NATS_URL',
  'NATS_OTHER_PASSWORD',
] as const;
/** In that time a caller finds that an address does not accept connections any more. */
const DELAY_MS = 500;
const READY_MS = 60_000;

/** A system of two processes of each service, whose secrets are those of a file. */
export class Installation implements AsyncDisposable {
  readonly system: TestSystem;
  readonly #settings: Record<string, Record<string, string>>;
  readonly #owned = new AsyncDisposableStack();
  /** Addresses of the gateways that a balancer would send requests to. */
  readonly gateways: Set<string>;

  /** The address of NATS in the file. */
  readonly nats: Wire;

  private constructor(system: TestSystem, nats: Wire, settings: Record<string, Record<string, string>>) {
    this.system = this.#owned.use(system);
    this.nats = this.#owned.use(nats);
    this.#settings = settings;
    this.gateways = new Set([0, 1].map((replica) => system.service('gateway', replica).url));
  }

  static async start(webhookCaFile: string): Promise<Installation> {
    // The processes read them at each start.
    const settings: Record<string, Record<string, string>> = Object.fromEntries(
      SERVICES.map(({ name }) => [name, { SHUTDOWN_DELAY_MS: String(DELAY_MS) }]),
    );
    Object.assign(settings['webhook-dispatcher'] ?? {}, { WEBHOOK_EXTRA_CA_FILE: webhookCaFile });
    // One address queries more often here than one may.
    Object.assign(settings['gateway'] ?? {}, { RATE_LIMITS: JSON.stringify({ graphql: 0 }) });
    const system = await startTestSystem({
      label: 'secrets',
      ownPostgres: true,
      overrides: settings,
      replicas: { gateway: 2, auth: 2, workspace: 2, sync: 2, graph: 2, 'webhook-dispatcher': 2 },
    });
    return new Installation(system, await openWire({ host: '127.0.0.1', port: system.nats.port }), settings);
  }

  /** The file of its secrets when it starts. */
  firstFile(): SecretValues {
    const { secrets, database, nats, jwt } = this.system;
    const issuer = { issuer: jwt.issuer, audiences: [jwt.audience], algorithms: ['HS256'], secret: jwt.secret };
    const values: Record<string, string> = {
      ...newSecrets({ database: 'postgres://db/wts', nats: 'nats://nats:4222' }),
      INTERNAL_TOKEN_PUBLIC_KEYS: tokenSettings('sync', secrets)['INTERNAL_TOKEN_PUBLIC_KEYS'] ?? '',
      AUTH_SECRET_KEY: secrets.authSecretKey,
      WEBHOOK_SECRET_KEY: secrets.webhookSecretKey,
      JWT_ISSUERS: JSON.stringify([issuer]),
    };
    const set = (name: string, variable: string, value: string | undefined): void => {
      const key = secretKey(name, variable);
      if (values[key] !== undefined && value !== undefined) values[key] = value;
    };
    for (const { name, database: use } of SERVICES) {
      set(name, 'INTERNAL_TOKEN_KEY', secrets.serviceKeys[name]);
      set(name, 'REPLAY_SECRET', secrets.replaySecret);
      if (use !== undefined) set(name, 'DATABASE_URL', database.urlOf(use.role));
      if (values[secretKey(name, 'NATS_URL')] !== undefined)
        set(name, 'NATS_URL', this.nats.through(nats.urlOf(name as 'sync')));
    }
    return values;
  }

  /** Gives every process the file, one after the other, as a rolling update does. */
  async roll(values: SecretValues, onProcess: (name: string) => void): Promise<void> {
    for (const { name } of SERVICES) {
      for (const variable of SETTINGS)
        Object.assign(this.#settings[name] ?? {}, { [variable]: values[secretKey(name, variable)] ?? '' });
    }
    for (const process of this.system.services) {
      onProcess(process.name);
      this.gateways.delete(process.url);
      await process.stop();
      await process.start();
      await process.untilReady(READY_MS);
      if (process.name.startsWith('gateway')) this.gateways.add(process.url);
    }
  }

  async changeRoles(values: SecretValues): Promise<void> {
    await this.sql(passwordsSql(values));
  }

  async sql<T>(text: string): Promise<T[]> {
    await using client = await connectTo(this.system.database.url);
    return (await client.query(text)).rows as T[];
  }

  /** A restart with other passwords: a server at the same address, and the one before ends. */
  async changeNats(password: string): Promise<void> {
    const changed = this.#owned.use(await testNats('nats-changed', password));
    this.nats.redirect({ host: '127.0.0.1', port: changed.port });
    this.nats.cut();
    await this.system.nats.stop();
    this.nats.mend();
  }

  /** Resolves when nothing is sealed with another key than the first of the file. */
  async untilSealed(keyIds: { readonly auth: string; readonly webhooks: string }): Promise<void> {
    const tables: readonly (readonly [string, string])[] = [
      ['auth.signing_keys where sealed_with', keyIds.auth],
      ['webhooks.secrets where key_id', keyIds.webhooks],
    ];
    for (const [where, keyId] of tables)
      await eventually(async () => (await this.sql(`select from ${where} <> '${keyId}'`)).length === 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }
}
