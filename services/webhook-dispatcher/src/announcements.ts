import type { LogStream } from '@wts/contracts';
import { subscribe, type Nats } from '@wts/service-kit/nats';

/*
 * What replicas of the dispatcher announce to each other. Nothing rests on it: an announcement that is lost costs the
 * interval in which replicas look by themselves.
 */

export interface Announcement {
  /** Endpoints that have new deliveries or new settings. */
  readonly endpointIds: readonly string[];
  /** Workspaces with an endpoint that was created or enabled. */
  readonly workspaceIds: readonly string[];
  /** Recorded traces of commits, by their events. */
  readonly traces: Readonly<Record<string, string>>;
}

/** Where the replicas of a dispatcher announce. */
export interface Announcing<Part extends keyof Nats> {
  readonly nats: Pick<Nats, Part>;
  readonly of: LogStream;
}

/** So that no message is larger than a broker takes. */
const IDS_MAX = 1_000;

export function announce({ nats, of }: Announcing<'connection'>, announcement: Partial<Announcement>): void {
  const connection = nats.connection();
  if (connection === null) return;
  const { endpointIds = [], workspaceIds = [] } = announcement;
  const { length } = endpointIds.length > workspaceIds.length ? endpointIds : workspaceIds;
  for (let from = 0; from < length; from += IDS_MAX) {
    const part = {
      endpointIds: endpointIds.slice(from, from + IDS_MAX),
      workspaceIds: workspaceIds.slice(from, from + IDS_MAX),
    };
    connection.publish(of.webhooks, JSON.stringify(part));
  }
}

/** Before the announcement of the deliveries, so that their attempts find it. */
export function announceTraces({ nats, of }: Announcing<'connection'>, traces: ReadonlyMap<string, string>): void {
  if (traces.size > 0) nats.connection()?.publish(of.webhooks, JSON.stringify({ traces: Object.fromEntries(traces) }));
}

export function onAnnounced({ nats, of }: Announcing<'onConnect'>, onNews: (news: Announcement) => void): void {
  subscribe(nats, of.webhooks, ({ data }) => onNews(read(data)));
}

/** Empty for what is no announcement. */
function read(data: Uint8Array): Announcement {
  try {
    const news = JSON.parse(Buffer.from(data).toString('utf8')) as Record<keyof Announcement, unknown>;
    return {
      endpointIds: textsOf(news.endpointIds),
      workspaceIds: textsOf(news.workspaceIds),
      traces: textsByNameOf(news.traces),
    };
  } catch {
    return { endpointIds: [], workspaceIds: [], traces: {} };
  }
}

function textsByNameOf(traces: unknown): Announcement['traces'] {
  return Object.fromEntries(Object.entries(traces ?? {}).filter(([, trace]) => typeof trace === 'string'));
}

function textsOf(ids: unknown): string[] {
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
