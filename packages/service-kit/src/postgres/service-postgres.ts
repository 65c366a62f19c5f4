import type { Client } from 'pg';
import { checkPostgres } from './check-postgres.ts';
import { openPostgres, type Postgres, type PostgresOptions } from './postgres.ts';

/** Of the context of a service. */
type Starting = Required<Pick<PostgresOptions, 'log' | 'metrics' | 'stack' | 'readiness'>> & {
  readonly name: string;
  readonly signal: AbortSignal;
};

interface ServicePostgresOptions {
  readonly databaseUrl: string;
  readonly poolMax: number;
  /** What else the service requires of its database, see `checkPostgres`. */
  readonly refusal?: (client: Client) => Promise<string | null>;
}

/** Checks the server of a service that is starting, and opens the connections on which its readiness depends. */
export async function openServicePostgres(
  { name, log, metrics, stack, readiness, signal }: Starting,
  { databaseUrl: url, poolMax, refusal }: ServicePostgresOptions,
): Promise<Postgres> {
  const options = { url, applicationName: `wts-${name}`, log, readiness };
  await checkPostgres({ ...options, signal, ...(refusal && { refusal }) });
  return openPostgres({ ...options, poolMax, metrics, stack });
}
