import type { IExecutableSchemaDefinition } from '@graphql-tools/schema';
import type { LoopTurns } from '@wts/service-kit/fairness';
import type { Writes } from '../commands/writes.ts';
import type { Caller } from '../domain/caller.ts';
import type { Reads } from '../queries/reads.ts';
import type { Charge } from './rules/cost.ts';

/** The third argument of every resolver: what one request reads and changes. */
export interface RequestContext extends Caller {
  readonly reads: Reads;
  readonly writes: Writes;
  readonly charge: Charge;
  /** Divides the event loop among the people whose large answers are made. */
  readonly turns: LoopTurns;
}

/** Resolvers of types, by their names. */
export type Resolvers = Exclude<
  IExecutableSchemaDefinition<RequestContext>['resolvers'],
  readonly unknown[] | null | undefined
>;
