import { randomUUID } from 'node:crypto';
import { STREAM } from '@wts/contracts';
import { subscribe } from '@wts/service-kit/nats';
import type { Nats } from '@wts/service-kit/nats';
import type { Report, Tally } from './tally.ts';

/** What replicas tell each other. Without counts it is a question: tell me what you know. */
interface Message {
  readonly replica: string;
  readonly counts?: readonly Report[];
}

/** Counts wait so long for company. It is how far replicas are behind each other, beside the way through the broker. */
const GATHER_MS = 5;
/** Keeps a message far below the broker's bound. */
const REPORTS_MAX = 1_000;
const SWEEP_MS = 10_000;

/**
 * Lets all gateways count together: each tells the others its own totals over core NATS, some milliseconds after they
 * changed, and that it is there. Who may wait for it is decided where limits are kept (`limit-rate.ts`). Without NATS each
 * replica counts alone, so a limit holds per process; when NATS is back, all tell all.
 * Keeps limits.rate.shared.
 */
export function shareRates(tally: Tally, nats: Nats, stack: AsyncDisposableStack): { readonly changed: () => void } {
  const replica = randomUUID();
  let gathering: NodeJS.Timeout | null = null;

  const say = (message: Message): void => {
    nats.connection()?.publish(STREAM.rates, JSON.stringify(message));
  };
  const tell = (who: string, counts: readonly Report[]): void => {
    for (let at = 0; at < counts.length; at += REPORTS_MAX) {
      say({ replica: who, counts: counts.slice(at, at + REPORTS_MAX) });
    }
  };

  subscribe(nats, STREAM.rates, ({ data }) => {
    const message = readMessage(data);
    if (message === null || message.replica === replica) return;
    tally.meet(message.replica);
    if (message.counts !== undefined) tally.merge(message.replica, message.counts);
    else {
      tell(replica, tally.everything());
      for (const [other, counts] of tally.heard()) tell(other, counts);
    }
  });
  // Behind the subscription: the answers must find it.
  nats.onConnect(() => {
    tell(replica, tally.everything());
    say({ replica });
  });

  const sweeping = setInterval(() => {
    tally.sweep();
    say({ replica, counts: [] });
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
        tell(replica, tally.changes());
      }, GATHER_MS);
    },
  };
}

/** Null for anything that is no message of ours: whoever can publish on our NATS must still not be able to stop us. */
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
