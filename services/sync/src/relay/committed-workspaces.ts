import { STREAM, type EntryChunk, type LogStream } from '@wts/contracts';
import { TRACE_HEADER, traceOf } from '@wts/log/stream';
import { subscribe } from '@wts/service-kit/nats';
import { endSpan, headerOf, startMessageSpan, type Span } from '@wts/service-kit/observe';
import { headers, type MsgHdrs } from 'nats';
import type { NatsSource } from './other-replicas.ts';

/** A follower announces itself every two seconds; three announcements may be lost. */
const FOLLOWED_MS = 7_000;
const TRACED_EVENTS_MAX = 64;

/**
 * Publishes which workspaces have new entries, for followers that read only some of them: without the entries, so a workspace
 * that has no follower costs the process that receives them a look at an id. Losing a message is harmless, because followers also look
 * at the log. Without a follower nothing is published, because writing to the connection after each commit takes a seventh of the CPU
 * of this process.
 */
export function publishWorkspaces(
  nats: NatsSource,
  of: LogStream,
  onCommitted: (listener: (chunk: EntryChunk) => void) => void,
): void {
  let followedUntil = -Infinity;
  subscribe(nats, of.followers, () => (followedUntil = performance.now() + FOLLOWED_MS));
  onCommitted((chunk) => {
    const connection = performance.now() < followedUntil ? nats.connection() : null;
    if (connection === null) return;
    const workspaceIds = new Set<string>();
    // What is inside a private project has another group.
    for (const { workspaceId, groupId } of chunk.actions) if (groupId === workspaceId) workspaceIds.add(workspaceId);
    if (workspaceIds.size === 0) return;
    const span = startMessageSpan(of.committed, 'PRODUCER', traceOf(chunk));
    const traced = span === null ? {} : { headers: traceHeaders(span, chunk) };
    connection.publish(of.committed, [...workspaceIds].join(','), traced);
    endSpan(span);
  });
}

/** The events of the entries, by which a follower finds the trace of a delivery. A commit may have thousands. */
function traceHeaders(span: Span, { actions }: EntryChunk): MsgHdrs {
  const header = headers();
  header.set(TRACE_HEADER, headerOf(span));
  const ids = actions.slice(0, TRACED_EVENTS_MAX).map(({ eventId }) => eventId);
  header.set(STREAM.tracedEvents, ids.join(','));
  return header;
}
