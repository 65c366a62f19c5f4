import { posix } from 'node:path';
import { isLockFile, isMarkdown, isProse } from '../files.ts';
import { eachLine, type Finding, type Tree } from '../tree.ts';

/** Unfinished work is an issue with a number, or it is finished. Only comments count; strings are data. */
const OPEN_END = /(?:\/\/|\/?\*|#|<!--|--)\s.*\b(?:TODO(?!\(#\d+\))|FIXME|XXX|HACK)\b/;

export function openEnds(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  eachLine(tree, tree.files.filter(isProse), (line, at) => {
    if (OPEN_END.test(line)) findings.push({ ...at, message: 'finish it, or write TODO(#issue)' });
  });
  return findings;
}

const LINK = /\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g;

/** A link that leads nowhere is worse than none: paths must exist, and so must the heading after `#`. */
export function links(tree: Tree): Finding[] {
  const places = new Set(tree.files.flatMap((path) => [path, ...parentsOf(path)]));
  const findings: Finding[] = [];
  for (const path of tree.files.filter(isMarkdown)) {
    eachLine(plain(tree, path), [path], (line, at) => {
      for (const [, target = ''] of line.matchAll(LINK)) {
        if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const to =
          file === '' ? path : posix.normalize(posix.join(posix.dirname(path), decodeURI(file))).replace(/\/$/, '');
        if (!places.has(to)) findings.push({ ...at, message: `link "${target}" leads nowhere` });
        else if (anchor !== undefined && isMarkdown(to) && !anchorsOf(tree.read(to)).has(anchor))
          findings.push({ ...at, message: `no heading "#${anchor}" in ${to}` });
      }
    });
  }
  return findings;
}

/** Code in a document is an example, not a link. */
function plain(tree: Tree, path: string): Tree {
  const keepLines = (block: string): string => block.replace(/[^\n]/g, '');
  const text = tree
    .read(path)
    .replace(/^```.*?^```/gms, keepLines)
    .replace(/`[^`\n]*`/g, '');
  return { files: [path], read: () => text };
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return ['.', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}

/** Headings as the usual hosts turn them into anchors. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replace(/^```.*?^```/gms, '').matchAll(/^#{1,6}\s+(.*?)\s*#*$/gm);
  return new Set(
    Array.from(headings, ([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}

/** Paths of one machine and private registries, which do not exist on other machines. */
const MACHINE_PATH = /(?<![\w.@/-])\/(?:home|Users|root|work|mnt|builds)\/[\w.-]+|\b[A-Z]:\\Users\\/;
const REGISTRY = /\btarball: https?:|\bregistry\s*=\s*https?:|resolution: \{[^}]*\bhttps?:/;

export function machines(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  eachLine(
    tree,
    tree.files.filter((path) => isProse(path) || isLockFile(path) || path.endsWith('.npmrc')),
    (line, at) => {
      const found = (MACHINE_PATH.exec(line) ?? REGISTRY.exec(line))?.[0];
      if (found !== undefined)
        findings.push({ ...at, message: `"${found}" exists on one machine only: make it relative, or a setting` });
    },
  );
  return findings;
}

const SECRETS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/],
  ['a webhook secret', /\bwhsec_[A-Za-z0-9+/]{32,}={0,2}/],
  ['an API key', /\bwts_[0-9A-Za-z]{49}\b/],
  ['a signed token', /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/],
  [
    'a cloud or registry credential',
    /\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[0-9A-Za-z]{36}|npm_[0-9A-Za-z]{36}|xox[abprs]-[0-9A-Za-z-]{20,})\b/,
  ],
];

/** Tests make what they need at run time, so nothing that looks like a secret has a reason to be in the tree. */
export function secrets(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  eachLine(tree, tree.files, (line, at) => {
    const what = SECRETS.find(([, pattern]) => pattern.test(line))?.[0];
    if (what !== undefined)
      findings.push({ ...at, message: `looks like ${what}: make it at run time, and revoke it if it was real` });
  });
  return findings;
}
