import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One promise of the service: what it says, where it is said, where it is kept. */
export interface Rule {
  /** Stable name, cited by tests in their title as `[id]` and by the home file in a comment. */
  readonly id: string;
  /** The rule in one sentence, as a caller would check it. */
  readonly text: string;
  /** The file that keeps it. */
  readonly home: string;
  /** The document and section the rule comes from. */
  readonly source: string;
}

const ROW = /^\| `([^`]+)` \| (.+) \| `([^`]+)` \| ([^|]+) \|$/;

/** Every rule of the tables beside this file. */
export const RULES: readonly Rule[] = globSync('*.md', { cwd: import.meta.dirname, exclude: ['README.md'] })
  .toSorted()
  .flatMap((name) => {
    const lines = readFileSync(join(import.meta.dirname, name), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.slice(lines.indexOf('|---|---|---|---|') + 1).map((line) => {
      const [, id, text, home, source] = ROW.exec(line) ?? [];
      if (id === undefined || text === undefined || home === undefined || source === undefined)
        throw new Error(`${name} has a line that is no rule: ${line}`);
      return { id, text: text.replaceAll('\\|', '|'), home, source };
    });
  });
