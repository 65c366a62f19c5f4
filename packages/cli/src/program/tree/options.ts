import type { OptionSpec } from '../spec.ts';

export const LIMIT: OptionSpec = { flags: '-L, --limit <number>', about: 'At most so many.' };
export const DRY_RUN: OptionSpec = { flags: '-n, --dry-run', about: 'Show what would be done, and do nothing.' };
