import type { Entry } from '@wts/log';
import type { Visibility } from '@wts/read-model';
import { ENTRY_FORMATTERS, type ActionSpelling } from './action-spelling.ts';

interface Walk {
  readonly visibility: Visibility;
  readonly spelling: ActionSpelling;
  /** Entries in (after, upTo] are walked. */
  readonly after: bigint;
  readonly upTo: bigint;
  /** Receives the text of an entry that the reader may see. False ends the walk after this entry. */
  readonly take: (id: bigint, text: string) => boolean;
}

/**
 * Where a walk ended. `reached` is the position of the last entry it has checked. `before` is set when it stopped before an
 * entry: at a gain or loss later than the visibility (`groups`), or because the client has to load everything again (`load`).
 */
interface Walked {
  readonly reached: bigint;
  readonly before?: bigint;
  readonly needs?: 'groups' | 'load';
}

/**
 * Passes the entries that a reader may see to `take`, in the spelling of their client. Pages and sockets both use it, so the
 * rules of visibility are applied in one place.
 */
export function walk(entries: readonly Entry[], { visibility, spelling, after, upTo, take }: Walk): Walked {
  const formatter = ENTRY_FORMATTERS[spelling];
  let reached = after;
  for (const entry of entries) {
    const { id } = entry;
    if (id <= after) continue;
    if (id > upTo) break;
    // Later entries need the groups after this gain or loss.
    if (id > visibility.at && visibility.isGainOrLoss(entry)) return { reached, before: id, needs: 'groups' };
    if (formatter.requiresBootstrap(entry, visibility)) return { reached, before: id, needs: 'load' };
    reached = id;
    if (visibility.allows(entry) && !take(id, formatter.textFor(entry, visibility))) break;
  }
  return { reached };
}
