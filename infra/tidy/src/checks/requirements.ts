import type { Rule } from '@wts/test-e2e/requirements';
import { isTest } from '../files.ts';
import type { Finding, Tree } from '../tree.ts';

const LIST = 'test-e2e/requirements';

/** A rule of the interface is kept when three places name it: the list, the file that keeps it, and a test. */
export function coverage(tree: Tree, rules: readonly Rule[]): Finding[] {
  const cited = citations(tree);
  const known = new Set(rules.map(({ id }) => id));
  const strangers = [...cited].flatMap(([id, path]) =>
    known.has(id) ? [] : [{ path, message: `a test cites [${id}], which is no rule of ${LIST}` }],
  );
  return [...repeated(rules), ...strangers, ...rules.flatMap((rule) => faultsOf(rule, tree, cited))];
}

function faultsOf({ id, home }: Rule, tree: Tree, cited: ReadonlyMap<string, string>): Finding[] {
  const findings: Finding[] = [];
  if (!cited.has(id)) findings.push({ path: LIST, message: `no test has [${id}] in its title` });
  if (!tree.files.includes(home)) findings.push({ path: LIST, message: `the home of ${id}, ${home}, does not exist` });
  else if (!mentions(tree.read(home), id))
    findings.push({ path: home, message: `is the home of ${id} and does not mention it in a comment` });
  return findings;
}

function repeated(rules: readonly Rule[]): Finding[] {
  const twice = rules.filter(({ id }, index) => rules.findIndex((other) => other.id === id) < index);
  return twice.map(({ id }) => ({ path: LIST, message: `${id} stands twice` }));
}

const TITLE = /\b(?:it|describe)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const ID = String.raw`[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+`;
/** One id or several: `[sync.deltas.paging]`, `[errors.401.bad-key, errors.401.bad-jwt]`. */
const CITATION = new RegExp(String.raw`\[(${ID}(?:, ${ID})*)\]`, 'g');

/** The titles of the tests of a file, with their lines. */
export function titlesOf(text: string): { readonly title: string; readonly line: number }[] {
  return [...text.matchAll(TITLE)].map(({ index, 2: title = '' }) => ({
    title,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** Each id cited in the title of a test, with a file that cites it. */
function citations(tree: Tree): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const path of tree.files.filter(isTest)) {
    for (const { title } of titlesOf(tree.read(path))) {
      for (const [, ids = ''] of title.matchAll(CITATION)) for (const id of ids.split(', ')) found.set(id, path);
    }
  }
  return found;
}

/** In a comment, whole: `sync.deltas.after` does not mention `sync.deltas.after-exclusive`. */
function mentions(text: string, id: string): boolean {
  const name = new RegExp(`(?<![\\w.-])${id.replaceAll('.', '\\.')}(?![\\w-]|\\.\\w)`);
  return text.split('\n').some((line) => /(?:\/\/|^\s*\/?\*|#|--)/.test(line) && name.test(line));
}
