import { STREAM, type LogStream } from '@wts/contracts';
import { DiscardPolicy, NatsError, RetentionPolicy, StorageType, nanos } from 'nats';
import type { JetStreamManager, NatsConnection, StreamConfig } from 'nats';

/** What this repository is tested against; older servers silently drop settings. */
const SERVER_OLDEST = [2, 10] as const;
/** A day of heavy writing. Above it the server deletes the oldest messages, which are still in the log. */
const STREAM_BYTES_MAX = 1024 * 1024 * 1024;
const STREAM_NOT_FOUND = 10059;
const NAME_IN_USE = 10058;

/**
 * Creates or updates the stream. Older servers silently drop settings they do not support, so the settings in the reply are
 * compared with the requested ones, and a difference is an error that names it.
 */
export async function ensureStream(
  nc: NatsConnection,
  { replicas, of = STREAM }: { readonly replicas: number; readonly of?: LogStream },
): Promise<void> {
  checkServer(nc);
  const manager = await nc.jetstreamManager({ checkAPI: false });
  const wanted = {
    name: of.name,
    subjects: [of.subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.Old,
    num_replicas: replicas,
    duplicate_window: nanos(STREAM.duplicateWindowMs),
    max_age: nanos(STREAM.maxAgeMs),
    max_bytes: STREAM_BYTES_MAX,
    deny_delete: true,
    deny_purge: true,
  } satisfies Partial<StreamConfig>;
  const echoed = await createOrUpdate(manager, wanted);
  const differences = Object.entries(wanted).flatMap(([field, value]) => {
    const got: unknown = echoed[field as keyof StreamConfig];
    return JSON.stringify(got) === JSON.stringify(value)
      ? []
      : [`${field} is ${JSON.stringify(got)}, not ${JSON.stringify(value)}`];
  });
  if (differences.length > 0)
    throw new Error(`The NATS server did not apply the settings of stream ${of.name}: ${differences.join('; ')}.`);
}

function checkServer(nc: NatsConnection): void {
  const version = nc.info?.version ?? '0.0.0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const old = major < SERVER_OLDEST[0] || (major === SERVER_OLDEST[0] && minor < SERVER_OLDEST[1]);
  if (old) throw new Error(`NATS server ${version} is too old: ${SERVER_OLDEST.join('.')} or newer is needed.`);
  if (nc.info?.jetstream !== true) throw new Error('The NATS server runs without JetStream: start it with -js.');
}

async function createOrUpdate(
  manager: JetStreamManager,
  wanted: Partial<StreamConfig> & { name: string },
): Promise<StreamConfig> {
  try {
    return (await manager.streams.update(wanted.name, wanted)).config;
  } catch (error) {
    if (!isJetStreamError(error, STREAM_NOT_FOUND)) throw error;
  }
  try {
    return (await manager.streams.add(wanted)).config;
  } catch (error) {
    // Another replica created it.
    if (!isJetStreamError(error, NAME_IN_USE)) throw error;
    return (await manager.streams.update(wanted.name, wanted)).config;
  }
}

export function isJetStreamError(error: unknown, ...codes: readonly number[]): error is NatsError {
  return error instanceof NatsError && codes.includes(error.api_error?.err_code ?? -1);
}
