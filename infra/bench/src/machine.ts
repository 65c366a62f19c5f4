import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

export function machineLine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`;
}

/** The measured commit; null outside a clone. */
export function commitLine(): string | null {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' });
  try {
    // Written results do not change the measured code.
    const isChanged = git('status', '--porcelain', '--', ':/', ':!*/bench/results/*').trim() !== '';
    return `${git('rev-parse', '--short', 'HEAD').trim()}${isChanged ? ' with changes' : ''}`;
  } catch {
    return null;
  }
}
