import type { ReadinessCheck } from '../observe/readiness.ts';
import { connectClient } from '../postgres/other-password.ts';
import { lacking, pendingIn, pendingOf, type ReadSchema, type ServiceMigrations } from './recorded.ts';

const REPLY_MS = 3_000;

/**
 * A check of readiness: fails with a sentence until the schema has every migration that this version needs, of a schema of another
 * service the newest that it knows, so that a service may be started before its migrations and those of sync. After that it asks no
 * more, because no migration is undone while a service runs. A newer schema has them. Keeps meta.ready.schema.
 */
export function schemaCheck(url: string, needed: ServiceMigrations | ReadSchema): ReadinessCheck {
  let isComplete = false;
  return async () => {
    if (isComplete) return;
    const client = await connectClient({
      connectionString: url,
      application_name: `wts-schema-${needed.schema}`,
      connectionTimeoutMillis: REPLY_MS,
      query_timeout: REPLY_MS,
    });
    try {
      const pending = await ('migration' in needed ? pendingOf(client, needed) : pendingIn(client, needed));
      if (pending.length > 0) throw lacking(needed, pending);
      isComplete = true;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
}
