import { STREAM } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import type { NatsSource } from './handover.ts';

/**
 * Publishes which workspaces have new entries, for followers that read only some of them: without the entries, so a workspace
 * that has no follower costs the process that receives them a look at an id. Losing a message is harmless, because followers also look at the log.
 */
export function publishWorkspaces(
  nats: Pick<NatsSource, 'connection'>,
  onCommitted: (listener: (chunk: EntryChunk) => void) => void,
): void {
  onCommitted(({ actions }) => {
    const connection = nats.connection();
    if (connection === null) return;
    const workspaceIds = new Set<string>();
    // What is inside a private project has another group.
    for (const { workspaceId, groupId } of actions) if (groupId === workspaceId) workspaceIds.add(workspaceId);
    if (workspaceIds.size > 0) connection.publish(STREAM.committed, [...workspaceIds].join(','));
  });
}
