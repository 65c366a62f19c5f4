import type { Rule } from './rule.ts';

/** What holds while a workspace moves to another cell: decision 0040. */
export const cells: readonly Rule[] = [
  {
    id: 'cells.shard',
    source: 'Decision 0039',
    text: 'A service with another SHARD than the log of its database has does not start and says why; auth follows no cell whose number is not the one in CELLS.',
    home: 'packages/read-model/src/shard.ts',
  },
  {
    id: 'cells.move.equal',
    source: 'Decision 0040',
    text: 'A workspace that has moved has the same records, ids and numbers in its new cell, whatever was changed while it was copied, and a repeated step of the copy writes nothing.',
    home: 'services/sync/src/commit/move-steps.ts',
  },
  {
    id: 'cells.move.one-writer',
    source: 'Decision 0040',
    text: 'At each moment at most one cell accepts changes of a workspace: the one that it leaves accepts none on any replica from the answer to `moving` on, and the other one accepts none before the switch.',
    home: 'services/sync/src/commit/moving-workspaces.ts',
  },
  {
    id: 'cells.move.once',
    source: 'Decision 0040',
    text: 'A change that was committed before a workspace moved and is sent again to the new cell is not applied again.',
    home: 'services/sync/src/store/copied-facts.ts',
  },
  {
    id: 'cells.move.refused',
    source: 'Decision 0040',
    text: 'A change of a workspace that is moving is answered 503 with `Retry-After`; after the move its people lose the workspace there in the order of the log, and refusals name the new address.',
    home: 'services/sync/src/commit/moving-workspaces.ts',
  },
  {
    id: 'cells.move.webhooks',
    source: 'Decision 0040',
    text: 'The webhook endpoints of a workspace that moves keep their ids and secrets; what was not delivered is attempted in the new cell alone, in its order, before new events, and nothing that was copied becomes an event.',
    home: 'services/webhook-dispatcher/src/commands/move-endpoints.ts',
  },
  {
    id: 'cells.move.unseen',
    source: 'Decision 0040',
    text: 'Nothing of a copy can be seen in the new cell before there is no way back: no one who is removed in the old one meanwhile reads it there.',
    home: 'services/auth/src/domain/move-steps.ts',
  },
  {
    id: 'cells.move.foreign',
    source: 'Decision 0040',
    text: 'A move touches no record of another workspace, also where it has the same id.',
    home: 'services/sync/src/commit/move-steps.ts',
  },
];
