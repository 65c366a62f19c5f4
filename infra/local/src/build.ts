import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './layout.ts';

interface Build {
  readonly version: string;
  /** Ends with `-dirty` when files differ from that commit. */
  readonly commit: string;
}

/** What this checkout is: services get the commit from here, because an image has no git. */
export function buildOfCheckout(env: NodeJS.ProcessEnv): Build {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return { version: env['BUILD_VERSION'] ?? version, commit: env['BUILD_COMMIT'] ?? commitOfCheckout() };
}

function commitOfCheckout(): string {
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*'];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    // A download without .git, or no git.
    return 'unknown';
  }
}
