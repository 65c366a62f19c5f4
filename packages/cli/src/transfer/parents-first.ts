import type { SortedLine } from './line-sorter.ts';

/** As many records as one commit creates. */
const TIED_MAX = 10_000;

interface Tied {
  readonly id: string;
  readonly parentId: unknown;
  readonly line: SortedLine;
}

/** Within records of one moment, a reply follows its comment; otherwise the order stays. */
export async function* parentsFirst(lines: AsyncIterable<SortedLine>): AsyncGenerator<SortedLine> {
  let moment = '';
  let tied: Tied[] = [];
  for await (const line of lines) {
    const { id, createdAt, parentId } = JSON.parse(line.text) as { id: string; createdAt: string; parentId: unknown };
    if (createdAt !== moment || tied.length >= TIED_MAX) {
      yield* inOrder(tied);
      moment = createdAt;
      tied = [];
    }
    tied.push({ id, parentId, line });
  }
  yield* inOrder(tied);
}

function* inOrder(tied: readonly Tied[]): Generator<SortedLine> {
  const waiting = new Map<unknown, Tied>(tied.map((one) => [one.id, one]));
  for (const one of tied) {
    const chain: Tied[] = [];
    for (let next: Tied | undefined = one; next && waiting.delete(next.id); next = waiting.get(next.parentId))
      chain.push(next);
    for (const { line } of chain.toReversed()) yield line;
  }
}
