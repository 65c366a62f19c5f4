import { User } from '@wts/models';
import type { WorkspaceMove } from '../store/moves.ts';
import { Refused, type Refusal } from './refusal.ts';
import type { Effect, Unit } from './unit.ts';

/** After a refusal, the moves are read again when they were read longer ago than this: a workspace that has arrived is soon open. */
const READ_AGAIN_MS = 250;

/**
 * The workspaces that move from or to this cell, as this process knows them: changes of them are refused. It may be outdated, so each
 * commit compares its workspaces under the lock of the log (`store/log.ts`), and one that was decided by an outdated state is
 * decided again. Keeps cells.move.one-writer.
 */
export class MovingWorkspaces {
  readonly #readAgain: () => void;
  #moves: ReadonlyMap<string, WorkspaceMove> = new Map();
  #readMs = -Infinity;

  constructor(readAgain: () => void) {
    this.#readAgain = readAgain;
  }

  set(moves: readonly WorkspaceMove[]): void {
    this.#readMs = performance.now();
    this.#moves = new Map(moves.map((move) => [move.workspaceId, move]));
  }

  /** Copies that are due to be deleted. */
  get expired(): WorkspaceMove[] {
    return this.#moves.size === 0 ? [] : [...this.#moves.values()].filter(({ isExpired }) => isExpired);
  }

  /** Throws for a change of a workspace that moves; what the move itself writes is checked at commit. */
  refuse({ step }: Unit, effects: readonly Effect[]): void {
    if (this.#moves.size === 0 || (step && 'move' in step)) return;
    for (const { workspaceId, model } of effects) {
      const move = workspaceId === null || model === User ? undefined : this.#moves.get(workspaceId);
      if (move === undefined || move.state === 'removed') continue;
      if (move.state === 'moved') throw new Refused('not_found', movedTo(move));
      this.#noteUse();
      throw new Refused('unavailable', 'The workspace is being moved; try again shortly');
    }
  }

  /** A person whose workspace has moved finds nothing of it here: their refusal says where it is. Keeps cells.move.refused. */
  explain({ principal }: Unit, refusal: Refusal): Refusal {
    if (this.#moves.size === 0 || refusal.code !== 'not_found') return refusal;
    const move = [...this.#moves.values()].find(({ members }) => members.has(principal.userId));
    return move === undefined ? refusal : { ...refusal, error: `${refusal.error}. ${movedTo(move)}` };
  }

  #noteUse(): void {
    if (performance.now() - this.#readMs < READ_AGAIN_MS) return;
    this.#readMs = performance.now();
    this.#readAgain();
  }
}

function movedTo({ baseUrl }: WorkspaceMove): string {
  return `A workspace of yours is at ${baseUrl ?? 'another address'} now: send its changes there`;
}
