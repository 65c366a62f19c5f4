import { randomUUID } from 'node:crypto';
import { STREAM } from '@wts/contracts';
import { subscribe, type Nats } from '@wts/service-kit/nats';
import type { Report, Tally } from './tally.ts';

/** What replicas publish. A message without counts requests the counts of all others. */
interface Message {
  readonly replica: string;
  readonly counts?: readonly Report[];
}

/** How long changed counts are collected before they are published; replicas lag by this and the delivery by NATS. */
const GATHER_MS = 5;
/** Keeps a message far below the limit of NATS. */
const REPORTS_MAX = 1_000;
const SWEEP_MS = 10_000;

/**
 * Shares counts between gateways: each publishes its own totals over core NATS some milliseconds after they changed, and
 * regularly that it is alive. `limit-rate.ts` decides which requests wait for them. Without NATS each replica counts alone, so
 * a limit applies per process; when NATS is back, every replica publishes all its counts.
 * Keeps limits.rate.shared.
 */
export function shareRates(tally: Tally, nats: Nats, stack: AsyncDisposableStack): { readonly changed: () => void } {
  const replica = randomUUID();
  let gathering: NodeJS.Timeout | null = null;

  const publish = (message: Message): void => {
    nats.connection()?.publish(STREAM.rates, JSON.stringify(message));
  };
  const publishCounts = (counter: string, counts: readonly Report[]): void => {
    for (let at = 0; at < counts.length; at += REPORTS_MAX)
      publish({ replica: counter, counts: counts.slice(at, at + REPORTS_MAX) });
  };

  subscribe(nats, STREAM.rates, ({ data }) => {
    const message = readMessage(data);
    if (message === null || message.replica === replica) return;
    tally.markAlive(message.replica);
    if (message.counts !== undefined) tally.merge(message.replica, message.counts);
    else {
      publishCounts(replica, tally.allOwnCounts());
      for (const [other, counts] of tally.countsOfOthers()) publishCounts(other, counts);
    }
  });
  // After the subscription, which receives the answers.
  nats.onConnect(() => {
    publishCounts(replica, tally.allOwnCounts());
    publish({ replica });
  });

  const sweeping = setInterval(() => {
    tally.sweep();
    publish({ replica, counts: [] });
  }, SWEEP_MS);
  sweeping.unref();
  stack.defer(() => {
    clearInterval(sweeping);
    if (gathering !== null) clearTimeout(gathering);
  });
  return {
    changed: () => {
      gathering ??= setTimeout(() => {
        gathering = null;
        publishCounts(replica, tally.changes());
      }, GATHER_MS);
    },
  };
}

/** Null for an invalid message, so that another publisher on this NATS cannot stop the gateway. */
function readMessage(data: Uint8Array): Message | null {
  try {
    const { replica, counts } = JSON.parse(Buffer.from(data).toString('utf8')) as Partial<Message>;
    if (typeof replica !== 'string') return null;
    if (counts === undefined) return { replica };
    return Array.isArray(counts) && counts.every(isReport) ? { replica, counts } : null;
  } catch {
    return null;
  }
}

function isReport(value: unknown): value is Report {
  if (!Array.isArray(value) || value.length < 3 || value.length > 4) return false;
  const [key, endsAt, counted, takenBack = 0] = value as unknown[];
  const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && Number(count) >= 0;
  return typeof key === 'string' && Number.isSafeInteger(endsAt) && isCount(counted) && isCount(takenBack);
}
