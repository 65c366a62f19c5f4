import type { Entry } from '@wts/log';
import type { Visibility } from '@wts/read-model';
import { EXITS, type Dialect } from './dialect.ts';

interface Walk {
  readonly visibility: Visibility;
  readonly dialect: Dialect;
  /** Entries in (after, upTo] are walked. */
  readonly after: bigint;
  readonly upTo: bigint;
  /** Takes the text of an entry that is shown. False: the walk ends behind it. */
  readonly take: (id: bigint, text: string) => boolean;
}

/**
 * Where a walk ended. `reached` is the last entry that was looked at. It stopped before the entry `before`, when it is there,
 * because of a gain or loss that is not known to the visibility (`groups`), or because the client has to load everything
 * anew (`load`).
 */
interface Walked {
  readonly reached: bigint;
  readonly before?: bigint;
  readonly needs?: 'groups' | 'load';
}

/**
 * Shows a reader what is for them of a run of the log. The one place where entries, what a person may see of them and the
 * spelling of their client meet, for pages and sockets alike.
 */
export function walk(entries: readonly Entry[], { visibility, dialect, after, upTo, take }: Walk): Walked {
  const exit = EXITS[dialect];
  let reached = after;
  for (const entry of entries) {
    const { id } = entry;
    if (id <= after) continue;
    if (id > upTo) break;
    // Nothing is shown past it with the groups of before.
    if (id > visibility.at && visibility.isMove(entry)) return { reached, before: id, needs: 'groups' };
    if (exit.mustLoadAt(entry, visibility)) return { reached, before: id, needs: 'load' };
    reached = id;
    if (visibility.allows(entry) && !take(id, exit.textFor(entry, visibility))) break;
  }
  return { reached };
}
