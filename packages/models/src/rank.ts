/*
 * Ranks are compared byte by byte and have printable ASCII characters, space to `~`. Clients have their own ways to make them, so any
 * two ranks may be given here.
 */

const LOWEST = 0x20;
/** One above `~`. */
const ABOVE_HIGHEST = 0x7f;
/** Below every character: the end of a rank sorts before each of its continuations. */
const END = LOWEST - 1;
/** As the registry bounds a rank. */
const LENGTH_MAX = 256;

/**
 * A rank between two others; null when there is none. Without `high`, any greater rank. Between equal ranks there is none, nor between
 * a rank and the same with one space more.
 */
export function rankBetween(low: string, high: string | null): string | null {
  let rank = '';
  let top = high;
  for (let at = 0; at < LENGTH_MAX; at += 1) {
    const from = at < low.length ? low.charCodeAt(at) : END;
    const to = top === null ? ABOVE_HIGHEST : at < top.length ? top.charCodeAt(at) : END;
    if (from > to || (from === END && to === END)) return null;
    if (to - from > 1) return finish(rank, from, { to, isBounded: top !== null });
    if (from === to) rank += String.fromCharCode(from);
    else if (from === END) rank += ' ';
    else {
      // What begins like `low` is below `high` whatever follows.
      rank += String.fromCharCode(from);
      top = null;
    }
  }
  return null;
}

/** Adds a character between the two. A space is not the last character, because nothing is between a rank and the same with a space. */
function finish(prefix: string, from: number, { to, isBounded }: { to: number; isBounded: boolean }): string | null {
  // At the ends, small steps keep ranks short when records are added at the same end one after the other.
  const step = Math.ceil((to - from) / 8);
  const isOpen = from === END;
  const code = isOpen === isBounded ? (isOpen ? to - step : from + step) : Math.floor((from + to) / 2);
  const rank = `${prefix}${String.fromCharCode(code)}${code === LOWEST ? 'O' : ''}`;
  return rank.length <= LENGTH_MAX ? rank : null;
}

/** Ascending ranks between two others, evenly spread; null when there are not so many. */
export function ranksBetween(low: string, high: string | null, count: number): string[] | null {
  if (count === 0) return [];
  const middle = rankBetween(low, high);
  if (middle === null) return null;
  const before = Math.floor((count - 1) / 2);
  const left = ranksBetween(low, middle, before);
  const right = ranksBetween(middle, high, count - 1 - before);
  return left && right && [...left, middle, ...right];
}
