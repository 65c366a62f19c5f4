import type { ReadinessCheck } from '../life/readiness.ts';
import { connectClient } from '../postgres/other-password.ts';
import { lacking, pendingIn, type ServiceMigrations } from './recorded.ts';

const REPLY_MS = 3_000;

/**
 * A check of readiness: fails with a sentence until the schema has every migration of this version, so that a service may be started
 * before its migrations. After that it asks no more, because no migration is undone while a service runs.
 * Keeps meta.ready.schema.
 */
export function schemaCheck(url: string, migrations: ServiceMigrations): ReadinessCheck {
  let isComplete = false;
  return async () => {
    if (isComplete) return;
    const client = await connectClient({
      connectionString: url,
      application_name: `wts-schema-${migrations.schema}`,
      connectionTimeoutMillis: REPLY_MS,
      query_timeout: REPLY_MS,
    });
    // The query rejects with it.
    client.on('error', () => undefined);
    try {
      const pending = await pendingIn(client, migrations);
      if (pending.length > 0) throw lacking(migrations, pending);
      isComplete = true;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
}
