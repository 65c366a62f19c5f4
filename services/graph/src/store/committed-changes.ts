import type { Statement, StatementWriter } from './statement.ts';

/** The names of changes of the reader that were committed before; sync gives them the reply of the first time. */
export function committedStatement(clientId: string, clientTxIds: readonly string[], sql: StatementWriter): Statement {
  // By the primary key.
  return sql.finish(`select coalesce(json_agg(client_tx_id), '[]') as found from sync.idempotency_keys
    where user_id = ${sql.add(sql.reader.userId, 'uuid')} and client_id = ${sql.add(clientId, 'text')}
      and client_tx_id = any(${sql.add(clientTxIds, 'text[]')})`);
}
