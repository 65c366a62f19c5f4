import { Fault } from '@wts/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gate } from './gate.ts';

/** Who sees which groups, exact for a place in the log. A credential may be limited to one workspace. */
export interface GroupSource {
  of(userId: string, workspaceId?: string): Promise<{ groups: ReadonlySet<string>; at: bigint }>;
}

export interface Person {
  readonly userId: string;
  readonly workspaceId?: string | undefined;
}

/** The groups of a person, and the place in the log they were read at. */
export class Membership implements Person {
  readonly userId: string;
  readonly workspaceId: string | undefined;
  readonly all: ReadonlySet<string>;
  readonly at: bigint;

  constructor({ userId, workspaceId }: Person, all: ReadonlySet<string>, at: bigint) {
    this.userId = userId;
    this.workspaceId = workspaceId;
    this.all = all;
    this.at = at;
  }

  /** Asking for groups narrows what is seen and never widens it; asking for none asks for all. */
  narrow(requested: ReadonlySet<string>): ReadonlySet<string> {
    return requested.size === 0 ? this.all : this.all.intersection(requested);
  }
}

/** A copy of the database may be a moment behind the place it is asked about. */
const RETRY_MS = 20;
const DEADLINE_MS = 5_000;

export class MembershipReader {
  readonly #source: GroupSource;
  readonly #gate: Gate;

  constructor(source: GroupSource, gate: Gate) {
    this.#source = source;
    this.#gate = gate;
  }

  /** The groups as they are at `place` or later. */
  async read(person: Person, place: bigint): Promise<Membership> {
    const deadline = performance.now() + DEADLINE_MS;
    for (;;) {
      const { groups, at } = await this.#gate.run(() => this.#source.of(person.userId, person.workspaceId));
      if (at >= place) return new Membership(person, groups, at);
      if (performance.now() > deadline) {
        throw new Fault('unavailable', { cause: new Error(`memberships known up to ${at}, needed at ${place}`) });
      }
      await sleep(RETRY_MS);
    }
  }
}
