import { STREAM } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import { subscribe } from '@wts/service-kit/nats';
import type { NatsSource } from './handover.ts';

/** A follower announces itself every two seconds; three announcements may be lost. */
const FOLLOWED_MS = 7_000;

/**
 * Publishes which workspaces have new entries, for followers that read only some of them: without the entries, so a workspace
 * that has no follower costs the process that receives them a look at an id. Losing a message is harmless, because followers also look
 * at the log. Without a follower nothing is published, because writing to the connection after each commit takes a seventh of the CPU
 * of this process.
 */
export function publishWorkspaces(
  nats: NatsSource,
  onCommitted: (listener: (chunk: EntryChunk) => void) => void,
): void {
  let followedUntil = -Infinity;
  subscribe(nats, STREAM.followers, () => (followedUntil = performance.now() + FOLLOWED_MS));
  onCommitted(({ actions }) => {
    const connection = performance.now() < followedUntil ? nats.connection() : null;
    if (connection === null) return;
    const workspaceIds = new Set<string>();
    // What is inside a private project has another group.
    for (const { workspaceId, groupId } of actions) if (groupId === workspaceId) workspaceIds.add(workspaceId);
    if (workspaceIds.size > 0) connection.publish(STREAM.committed, [...workspaceIds].join(','));
  });
}
