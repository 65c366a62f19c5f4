import type { Rows } from './rule.ts';

/** What holds while a workspace moves to another cell: decision 0040. */
// prettier-ignore
export const cells: Rows = [
  ['cells.shard', 'A service with another SHARD than the log of its database has does not start and says why; auth follows no cell whose number is not the one in CELLS.', 'packages/read-model/src/shard.ts', 'Decision 0039'],
  ['cells.move.equal', 'A workspace that has moved has the same records, ids and numbers in its new cell, whatever was changed while it was copied, and a repeated step of the copy writes nothing.', 'services/sync/src/rules/move-steps.ts', 'Decision 0040'],
  ['cells.move.one-writer', 'At each moment at most one cell accepts changes of a workspace: the one that it leaves accepts none on any replica from the answer to `moving` on, and the other one accepts none before the switch.', 'services/sync/src/decision/moving-workspaces.ts', 'Decision 0040'],
  ['cells.move.once', 'A change that was committed before a workspace moved and is sent again to the new cell is not applied again.', 'services/sync/src/store/copied-facts.ts', 'Decision 0040'],
  ['cells.move.refused', 'A change of a workspace that is moving is answered 503 with `Retry-After`; after the move its people lose the workspace there in the order of the log, and refusals name the new address.', 'services/sync/src/decision/moving-workspaces.ts', 'Decision 0040'],
  ['cells.move.webhooks', 'The webhook endpoints of a workspace that moves keep their ids and secrets; what was not delivered is attempted in the new cell alone, in its order, before new events, and nothing that was copied becomes an event.', 'services/webhook-dispatcher/src/commands/move-endpoints.ts', 'Decision 0040'],
  ['cells.move.unseen', 'Nothing of a copy can be seen in the new cell before there is no way back: no one who is removed in the old one meanwhile reads it there.', 'services/auth/src/domain/move-steps.ts', 'Decision 0040'],
  ['cells.move.foreign', 'A move touches no record of another workspace, also where it has the same id.', 'services/sync/src/rules/move-steps.ts', 'Decision 0040'],
];
