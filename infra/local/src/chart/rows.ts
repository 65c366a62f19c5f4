import { CALLS, NATS_USERS, natsPasswordVariable, type ServiceName } from '@wts/contracts';
import { addressedBy, busyMb, secretKey, SERVICES, urlVariable } from '../services.ts';
import { describeSettings } from '../settings-reference.ts';

/** A service as the templates of the chart read it, in infra/chart/files/services.json. */
export interface ChartRow {
  readonly name: ServiceName;
  /** One for all cells. */
  readonly isGlobal: boolean;
  readonly urlVariable: string;
  readonly calls: readonly ServiceName[];
  /** Those of `calls` whose addresses it has as settings. */
  readonly addresses: readonly ServiceName[];
  readonly callers: readonly string[];
  readonly database: { readonly role: string; readonly schema: string | null } | null;
  readonly hasReplica: boolean;
  /** The key with its password, when it uses NATS: the variable of the server in infra/nats/users.conf. */
  readonly natsPasswordKey: string | null;
  readonly outside: readonly string[];
  readonly memoryMb: number;
  readonly temporaryMb: number;
  /** Settings with a value of the chart of the same meaning for every service. */
  readonly shared: readonly string[];
  readonly secrets: readonly ChartSecret[];
}

interface ChartSecret {
  readonly variable: string;
  /** Its key in the Secret. */
  readonly key: string;
  readonly required: boolean;
}

const TEMPORARY_MB = 64;
/** Values of the chart that become a setting of each service that has it. */
export const SHARED_SETTINGS: Readonly<Record<string, string>> = {
  BASE_URL: 'baseUrl',
  AUTH_URL: 'authUrl',
  API_KEY_PREFIX: 'apiKeyPrefix',
  SHARD: 'cell.shard',
};

export async function chartRows(): Promise<readonly ChartRow[]> {
  return Promise.all(
    SERVICES.map(async (service) => {
      const { name, isGlobal = false, database, outside = [], temporaryMb = TEMPORARY_MB } = service;
      const { settings } = await describeSettings(name);
      const natsUser = NATS_USERS.find((user) => user === name);
      const has = (variable: string): boolean => settings.some((one) => one.variable === variable);
      return {
        name,
        isGlobal,
        urlVariable: urlVariable(name),
        calls: CALLS[name],
        addresses: addressedBy(name),
        callers: SERVICES.filter((other) => CALLS[other.name].includes(name)).map((other) => other.name),
        database: database === undefined ? null : { role: database.role, schema: database.schema },
        hasReplica: has('DATABASE_REPLICA_URL'),
        natsPasswordKey: natsUser === undefined ? null : natsPasswordVariable(natsUser),
        outside,
        memoryMb: busyMb(service),
        temporaryMb,
        shared: Object.keys(SHARED_SETTINGS).filter(has),
        secrets: settings
          // The chart makes CELLS of its value `cells`.
          .filter(
            ({ variable, secret }) => variable !== 'CELLS' && (secret || variable === 'INTERNAL_TOKEN_PUBLIC_KEYS'),
          )
          .map(({ variable, required }) => ({ variable, key: secretKey(name, variable), required })),
      };
    }),
  );
}
