import { blocksOf, commandsOf, isTyped, printerOf, runningOf, type Block } from '@wts/test-e2e/documents';
import { posix } from 'node:path';
import { isMarkdown } from '../files.ts';
import { eachLine, type Finding, type Tree } from '../tree.ts';

const NOT_TYPED = new Set(['text', 'ts', 'json', 'toml', 'ini']);
/** A command line, in a block that says that it has none. */
const TYPED = /^ *(?:\$ |[A-Z_]+=\S+ npm |(?:npm (?:start|test|run|ci|install)|npx|node|curl|git|psql|export) )/m;
const SCRIPT = /\bnpm (start\b|test\b|run [a-z][\w:-]*)/g;

/** Each block says whether a test runs it, because a command that no test runs stops working without anyone noticing. */
export function unmarkedBlocks(tree: Tree): Finding[] {
  return tree.files.filter(isMarkdown).flatMap((path) =>
    blocksOf(path, tree.read(path)).flatMap((block) => {
      const message = problemOf(block);
      return message === null ? [] : [{ path, line: block.line - 1, message }];
    }),
  );
}

function problemOf(block: Block): string | null {
  if (isTyped(block)) {
    if (runningOf(block) === null) return `"${block.mark}" is no mark: "keeps running", or "not run:" with a reason`;
    if (runningOf(block) === 'keeps running' && commandsOf(block).length !== 1)
      return 'a block that keeps running has one command, and below it what that prints';
    return null;
  }
  if (!NOT_TYPED.has(block.language))
    return `"${block.language}" is no kind of block: see "Blocks of documents" in test-e2e/README.md`;
  if (block.mark !== '' && printerOf(block) === null) return `"${block.mark}" is no mark of a ${block.language} block`;
  if (block.language !== 'ts' && TYPED.test(block.text))
    return 'this has a command: make it a console or sh block, so that a test runs it';
  return block.language === 'json' && !isJson(block.text) ? 'this is not valid JSON' : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Everything that documents call `npm ...` is a script of the repository, or of the package that the document is in. */
export function absentScripts(tree: Tree): Finding[] {
  const findings: Finding[] = [];
  for (const path of tree.files.filter(isMarkdown)) {
    const scripts = new Set(
      ['package.json', `${posix.dirname(path)}/package.json`].flatMap((file) => scriptsOf(tree, file)),
    );
    eachLine(tree, [path], (text, at) => {
      for (const [, script = ''] of text.matchAll(SCRIPT)) {
        const name = script.replace('run ', '');
        if (!scripts.has(name)) findings.push({ ...at, message: `there is no script "${name}" in package.json` });
      }
    });
  }
  return findings;
}

function scriptsOf(tree: Tree, path: string): string[] {
  const { scripts = {} } = JSON.parse(tree.read(path) || '{}') as { scripts?: object };
  return Object.keys(scripts);
}
