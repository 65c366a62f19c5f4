import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConfigOf } from './settings.ts';
import type { buildSettings } from './service-settings.ts';

/** What runs: the version of the last release, and the commit that it was built from (decision 0005). */
export interface Build {
  readonly version: string;
  readonly commit: string;
}

const UNKNOWN = 'unknown';

export function buildOf({ buildVersion, buildCommit }: ConfigOf<typeof buildSettings>): Build {
  return { version: buildVersion ?? versionOfRepository(), commit: buildCommit ?? UNKNOWN };
}

/** An image may leave out the package.json of the repository. */
function versionOfRepository(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        string
      >;
      if (name === 'workspace-task-service') return version ?? UNKNOWN;
    } catch {
      // There is none in this folder.
    }
  }
  return UNKNOWN;
}
