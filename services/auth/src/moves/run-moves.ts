import { setTimeout as sleep } from 'node:timers/promises';
import { every, type BackgroundContext, type BackgroundWork, type Run } from '@wts/service-kit/background';
import type { Directory } from '../directory/directory.ts';
import type { PersonCopies } from '../directory/person-copies.ts';
import type { CellStore } from '../store/cells.ts';
import type { MoveStore } from '../store/moves.ts';
import { advance } from './advance.ts';

const LEASE_KEY = 7_368_034;
/** How often another replica tries to take over. */
const LEASE_EVERY_MS = 2_000;
/** While there is no move, and before a part that failed is tried again. */
const PAUSE_MS = 500;

interface MovesOptions {
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly directory: Pick<Directory, 'cells'>;
  readonly copies: PersonCopies;
  readonly workspaceCells: Pick<CellStore, 'setCell'>;
  readonly moves: MoveStore;
}

/** Moves workspaces to other cells, a part of each move after the other: on one replica, as long as it holds the lease. */
export function runMoves(context: BackgroundContext, options: MovesOptions): BackgroundWork {
  return every(context, {
    name: 'moves',
    everyMs: LEASE_EVERY_MS,
    lease: { url: options.databaseUrl, key: LEASE_KEY },
    run: (run) => runAll(options, run),
    failing: 'a move of a workspace waits; `wts admin workspace moves` shows which one and why',
  });
}

async function runAll({ moves, directory, ...context }: MovesOptions, run: Run): Promise<void> {
  const { signal } = run;
  const cellAt = (shard: number) => directory.cells.find((cell) => cell.shard === shard);
  while (!signal.aborted) {
    const open = await moves.open();
    let hasFailed = false;
    for (const move of open) {
      if (signal.aborted) return;
      const [source, target] = [cellAt(move.source), cellAt(move.target)];
      try {
        if (source === undefined || target === undefined) throw new Error('CELLS has not both cells of the move');
        await advance(moves, { ...context, source, target }, move);
      } catch (failure) {
        hasFailed = true;
        run.failed(failure);
      }
    }
    if (!hasFailed) run.succeeded();
    if (open.length === 0 || hasFailed) await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
