import type { IncomingMessage } from 'node:http';
import { HEADERS } from '@wts/contracts';

/** The cell that asks: its gateway for a client, or one of its services. */
export function shardOf({ headers }: IncomingMessage): number {
  return Number(headers[HEADERS.shard] ?? 0);
}
