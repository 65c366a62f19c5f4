import { LIMITS } from '@wts/contracts';
import type { Logger } from '@wts/service-kit';
import type { Pool } from 'pg';
import type { ActionLog } from './store/log.ts';
import { makePartitions } from './store/partitions.ts';

const EVERY_MS = 10_000;
const KEYS_PER_ROUND = 20_000;

/**
 * What the log needs from time to time: partitions ahead of its head, and idempotency keys past their days taken away. Every
 * replica does it; doing it twice is harmless. A round that fails is made up by the next.
 */
export function keepLog(pool: Pool, log: ActionLog, logger: Logger): AsyncDisposable {
  const round = async (): Promise<void> => {
    try {
      const { head } = await log.head();
      await makePartitions(pool, head);
      await pool.query(
        `delete from sync.idempotency_keys where ctid = any(array(
           select ctid from sync.idempotency_keys where created_at < now() - make_interval(days => $1) limit $2 for update skip locked))`,
        [LIMITS.idempotencyDays, KEYS_PER_ROUND],
      );
    } catch (err) {
      logger.warn({ err }, 'a round of upkeep of the log failed; the next one makes up for it');
    }
  };
  let running = round();
  const timer = setInterval(() => {
    running = running.then(round);
  }, EVERY_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
