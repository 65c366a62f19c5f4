import { isTest, isTypeScript } from '../files.ts';
import { eachLine, type Finding, type Tree } from '../tree.ts';
import { titlesOf } from './requirements.ts';

const TOP_LEVEL = new Set([
  // Code
  'services',
  'packages',
  'infra',
  'test-e2e',
  'package.json',
  'pnpm-workspace.yaml',
  'turbo.json',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  // Lock file, licence, shared tool configuration; dot files are free
  'pnpm-lock.yaml',
  'LICENSE',
  'tsconfig.base.json',
  'tsconfig.json',
  'oxlint.config.ts',
  'knip.json',
]);

const DRAWERS = new Set(['utils', 'util', 'shared', 'common', 'helpers', 'helper', 'lib', 'misc', 'core', 'base']);
const VAGUE_CLASS = /\bclass\s+(\w*(?:Manager|Helper|Helpers|Util|Utils|Common|Base|Impl))\b/;
const VAGUE_INTERFACE = /\binterface\s+(I[A-Z]\w*)/;

/** Helm makes no object of a file whose name begins with an underscore. */
const KEBAB = /^(?:_(?=.*\.tpl$))?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
/** Names that tools or convention require. */
const GIVEN = new Set([
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'Dockerfile',
  'Chart.yaml',
  'NOTES.txt',
]);

const GENERATED =
  /(^|\/)(node_modules|dist|coverage|\.turbo|\.local)\/|\.(log|tsbuildinfo|map|orig|rej|swp)$|(^|\/)\.DS_Store$/;

export function topLevel(tree: Tree): Finding[] {
  const entries = new Set(tree.files.map((path) => path.split('/')[0] ?? path));
  return [...entries]
    .filter((entry) => !entry.startsWith('.') && !TOP_LEVEL.has(entry))
    .map((path) => ({
      path,
      message: 'not a top-level entry of the design: it belongs into services, packages, infra or test-e2e',
    }));
}

/** A folder with such a name collects unrelated files. */
export function drawers(tree: Tree): Finding[] {
  return tree.files.flatMap((path) => {
    const parts = path
      .split('/')
      .map((part, index, all) => (index === all.length - 1 ? (part.split('.')[0] ?? part) : part));
    const drawer = parts.find((part) => DRAWERS.has(part));
    return drawer === undefined ? [] : [{ path, message: `"${drawer}" is vague: name it after its content` }];
  });
}

export function kebabCase(tree: Tree): Finding[] {
  return tree.files.flatMap((path) => {
    const odd = path.split('/').find((part) => !part.startsWith('.') && !GIVEN.has(part) && !KEBAB.test(part));
    return odd === undefined ? [] : [{ path, message: `"${odd}" is not kebab-case` }];
  });
}

export function vagueTypes(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  eachLine(tree, tree.files.filter(isTypeScript), (line, at) => {
    const name = (VAGUE_CLASS.exec(line) ?? VAGUE_INTERFACE.exec(line))?.[1];
    if (name !== undefined)
      findings.push({
        ...at,
        message: `"${name}": name the thing it is, without a suffix or prefix that says nothing`,
      });
  });
  return findings;
}

const NUMBERED = /^(.*\/)?(migrations|decisions)\/(\d{4})-[^/]+$/;

/** Two branches may use the same number; merged, no service starts. */
export function numberedTwice(tree: Tree): Finding[] {
  const taken = new Map<string, string>();
  return tree.files.flatMap((path) => {
    const [, folder = '', kind, number] = NUMBERED.exec(path) ?? [];
    if (number === undefined) return [];
    const key = `${folder}${kind}/${number}`;
    const first = taken.get(key);
    if (first === undefined) taken.set(key, path);
    return first === undefined ? [] : [{ path, message: `has the number of ${first}: take the next free one` }];
  });
}

export function generated(tree: Tree, trackedButIgnored: readonly string[]): Finding[] {
  const paths = new Set([...tree.files.filter((path) => GENERATED.test(path)), ...trackedButIgnored]);
  return [...paths].map((path) => ({ path, message: 'made by a tool: git rm --cached it and name it in .gitignore' }));
}

/** `A16: `, `A20, E5: `, `6. `, `(B2) ` and `T1 of many`; a number of things, as in `500 clients`, is none. */
const CODED =
  /^[[(#]*(?:[A-Z]{0,2}-?\d{1,2}[a-z]?(?:[,/ ]+[A-Z]{1,2}-?\d{1,2}[a-z]?)*\s*[:.)\]-](?=\s|$)|[A-Z]-?\d{1,2}[a-z]?\s)/;

/** A reader does not have the list that a code comes from. A rule of the interface stands in brackets at the end of a title. */
export function codedTitles(tree: Tree): Finding[] {
  return tree.files.filter(isTest).flatMap((path) =>
    titlesOf(tree.read(path)).flatMap(({ title, line }) => {
      const code = CODED.exec(title)?.[0].trim();
      return code === undefined
        ? []
        : [{ path, line, message: `a title begins with the code "${code}": begin with the guarantee in words` }];
    }),
  );
}

const METRIC = /(?:\b(?:name: |gauge\(|counter\()|\[)\s*['`]([a-z]+(?:_[a-z${}]+)+)['`]/g;
const OWN_METRIC = /^wts_[a-z]+_/;

/** Dashboards and alerts select by the prefix and the part of the system after it, as in `wts_commit_waiting_bytes`. */
export function metricNames(tree: Tree): Finding[] {
  const paths = tree.files.filter((path) => path.endsWith('metrics.ts'));
  return paths.flatMap((path) => {
    const text = tree.read(path);
    // Over the lines, because a name often stands on the line after its bracket.
    const named = [...text.matchAll(METRIC)].filter(({ 1: name = '' }) => !OWN_METRIC.test(name));
    return named.map(({ 1: name, index }) => ({
      path,
      line: text.slice(0, index).split('\n').length,
      message: `the metric ${name} must begin with wts_ and a part of the system`,
    }));
  });
}

/** Words that were replaced, with their replacements. Quoted text is not checked. */
const RETIRED: Readonly<Record<string, string>> = {
  asker: 'caller',
  bystander: 'control client',
  court: 'check',
  dawdle: 'read slowly',
  deafen: 'hold replies',
  deed: 'request kind',
  depart: 'leave',
  doubt: 'check, verify',
  dribble: 'send slowly',
  fate: 'rule, outcome',
  foresee: 'predict',
  forgive: 'accept',
  gossip: 'share counts',
  herd: 'reconnect storm',
  hollow: 'without entries',
  judgement: 'verdict',
  misled: 'conflict',
  outflow: 'client connection',
  sift: 'filter',
  stampede: 'reconnect storm',
  storyteller: 'fake server',
  untaken: 'unreceived',
  vouch: 'verify',
  witness: 'probe',
  world: 'system, state',
};

const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g;

/** One word, one thing: a replaced term must not come back. */
export function retiredTerms(tree: Tree): Finding[] {
  const paths = tree.files.filter((path) => isTypeScript(path) && !path.startsWith('infra/tidy/'));
  const findings: Finding[] = paths.flatMap((path) =>
    [...retiredIn(path)].map((term) => ({ path, message: refusalOf(term) })),
  );
  eachLine(tree, paths, (text, at) => {
    for (const term of retiredIn(text.replaceAll(QUOTED, ''))) findings.push({ ...at, message: refusalOf(term) });
  });
  return findings;
}

const refusalOf = (term: string): string => `"${term}" is retired: ${RETIRED[term]}`;

/** The retired term of each form of it. */
const RETIRED_FORMS = new Map(
  Object.keys(RETIRED).flatMap((term) => ['', 's', 'd', 'r', 'ed', 'rs'].map((end) => [term + end, term] as const)),
);

/** Words of identifiers count too: `bySlowDribble` has three. */
function retiredIn(text: string): Set<string> {
  const words = text.match(/[A-Z]?[a-z]+/g) ?? [];
  return new Set(words.flatMap((word) => RETIRED_FORMS.get(word.toLowerCase()) ?? []));
}
