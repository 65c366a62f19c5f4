import type { Io } from '../io.ts';
import type { Output } from '../output/output.ts';
import { VERSION } from '../version.ts';
import { CacheFile } from './cache-file.ts';
import type { Session } from './session.ts';

const DAY_MS = 24 * 60 * 60_000;
const WAIT_MS = 1_000;

/**
 * Once a day a person at a terminal reads, after the output, when this program and the service are of different versions. An
 * installation is of its own people, so the service is asked and no registry.
 */
export async function noteVersion(io: Io, output: Output, { server, fetch }: Session): Promise<void> {
  const isWanted =
    output.form === 'table' &&
    io.isTty.stderr &&
    !['CI', 'WTS_NO_UPDATE_NOTIFIER'].some((name) => (io.env[name] ?? '') !== '');
  if (!isWanted) return;
  const cache = new CacheFile<string>(io, 'version', [server.url]);
  if (!cache.isThere || ((await cache.read())?.ageMs ?? DAY_MS) < DAY_MS) return;
  try {
    const answer = await fetch(`${server.url}/openapi.json`, { signal: AbortSignal.timeout(WAIT_MS) });
    const { info } = (await answer.json()) as {
      readonly info?: { readonly 'x-build'?: { readonly version?: string } };
    };
    const version = info?.['x-build']?.version ?? VERSION;
    await cache.write(version);
    if (seriesOf(version) !== seriesOf(VERSION))
      await output.note(`This is wts ${VERSION}, and the service is ${version}: take the wts of that version.`);
  } catch {
    // It is no part of what the person asked for.
  }
}

/** The last number of a version changes nothing that the two must agree on. */
function seriesOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
