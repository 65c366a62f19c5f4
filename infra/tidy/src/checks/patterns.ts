import type { Finding, Tree } from '../tree.ts';

/** A pattern that is linear needs less than a millisecond for so many characters, one that is quadratic a hundred. */
const PUMPED = 8_000;
const CPU_MS_MAX = 12;
const TRIES = 3;
const TAILS = ['\n', '!', 'a\u0000'];
const COMMON = ['a', 'A', '0', ' ', '\t', '-', '_', '.', '/', ':', ',', ';', '=', '@', '"', '%', 'é'];

/** A regular expression after a token that an expression may follow; other matches do not compile and are skipped. */
const LITERAL =
  /(?<=[=(,:?!&|[;{}]\s*|^\s*|return )\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/([dgimsuvy]*)/gm;

/**
 * No pattern may take more than linear time, because the sender of the text could block the event loop.
 * Each is given what it matches up to some place, one character thousands of times, and an end that does not match.
 */
export function slowPatterns(tree: Tree, declared: readonly string[]): Finding[] {
  const sources = tree.files.filter((path) => /^(?:packages|services)\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(path));
  const literals = sources.flatMap((path) => {
    const text = tree.read(path);
    return [...text.matchAll(LITERAL)].map(([, source = '', flags = '']) => ({ path, source, flags }));
  });
  const all = [...literals, ...declared.map((source) => ({ path: 'packages/contracts/src', source, flags: 'u' }))];
  const unique = new Map(all.map((one) => [`${one.source}/${one.flags}`, one]));
  return [...unique.values()].flatMap(({ path, source, flags }): Finding[] => {
    const hostile = hostileTo(source, flags.replace(/[gy]/g, ''));
    if (hostile === null) return [];
    const message = `/${source}/ takes more than linear time for ${hostile}: what is repeated in it must begin in one place only`;
    return [{ path, message }];
  });
}

/** A text that the pattern takes long for; null when none is found, or when it is no pattern. */
function hostileTo(source: string, flags: string): string | null {
  const pattern = compiled(source, flags);
  if (pattern === null) return null;
  const matching = sampleOf(source, flags);
  const pumps = new Set([...COMMON, ...matching]);
  for (let upTo = 0; upTo <= matching.length; upTo += 1) {
    const start = matching.slice(0, upTo).join('');
    for (const pump of pumps) {
      for (const tail of TAILS) {
        if (isSlow(pattern, start + pump.repeat(PUMPED) + tail)) return JSON.stringify(`${start}${pump}...${tail}`);
      }
    }
  }
  return null;
}

/** In time of the processor, and by the best of some tries: a busy machine is no reason. The clock is read faster, and mostly enough. */
function isSlow(pattern: RegExp, text: string): boolean {
  const startedMs = performance.now();
  pattern.test(text);
  if (performance.now() - startedMs < CPU_MS_MAX) return false;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = process.cpuUsage();
    pattern.test(text);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 < CPU_MS_MAX) return false;
  }
  return true;
}

function compiled(source: string, flags: string): RegExp | null {
  try {
    return new RegExp(source, flags);
  } catch {
    return null;
  }
}

/** Classes, escapes, what is looked around for, groups, how often, and everything else. */
const PART =
  /\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\(\?<?[=!]|\(\?:|\(\?<[^>]*>|[*+?]\??|\{\d*(?:,\d*)?\}|./gsu;

/** Characters that the pattern takes one after the other: of each choice the first, of what may be repeated one. */
function sampleOf(source: string, flags: string): string[] {
  const sample: string[] = [];
  let skippedDepth = 0;
  for (const [part] of source.matchAll(PART)) {
    const isOpening = part.startsWith('(');
    if (skippedDepth > 0) {
      skippedDepth += isOpening ? 1 : part === ')' ? -1 : 0;
    } else if (/^\(\?<?[=!]$/.test(part) || part === '|') {
      // What follows a choice is of no more use than the choice; the end of its group ends it.
      skippedDepth = 1;
    } else if (!isOpening && !/^(?:[*+?^$)]\??|\{.*\}|\\[bB])$/.test(part)) {
      const one = compiled(`^${part}$`, flags);
      const taken = [...COMMON, part.replace(/^\\/, ''), '\n'].find((text) => one?.test(text) === true);
      if (taken !== undefined) sample.push(taken);
    }
  }
  return sample;
}
