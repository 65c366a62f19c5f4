import { readFileSync, readdirSync } from 'node:fs';
import { pageHeaders } from '../page-headers.ts';
import { pageFiles, withAccount, type PageFiles } from '../page-files.ts';
import type { StaticFile } from '../static-answer.ts';

/**
 * The webhooks console at `/console`: a page for who runs a webhook endpoint. It is made of the files of `page/`, which are sent
 * as they are: plain modules whose types are in comments. All are in memory from the start, so a request names a file of a closed
 * list and never a path on disk. The page uses the public API with the key that a person enters, so the gateway treats its
 * requests like all others. Keeps console.page.files.
 */
export function readConsole(accountUrl: string): PageFiles {
  const page = file('index.html', 'text/html; charset=utf-8');
  return pageFiles('console', { ...page, bytes: withAccount(page, accountUrl) }, files());
}

const TYPES: readonly (readonly [ending: string, type: string])[] = [
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
];

function files(): ReadonlyMap<string, StaticFile> {
  return new Map(
    readdirSync(new URL('page/', import.meta.url)).flatMap((name) => {
      const type = TYPES.find(([ending]) => name.endsWith(ending))?.[1];
      return type === undefined ? [] : [[name, file(name, type)]];
    }),
  );
}

/**
 * Beside what holds for every page: the browser refuses to parse a text as HTML or as a program (Trusted Types), because the
 * texts that the page shows come from others. Keeps console.page.closed.
 */
function file(name: string, type: string): StaticFile {
  return {
    type,
    bytes: readFileSync(new URL(`page/${name}`, import.meta.url)),
    lines: pageHeaders("require-trusted-types-for 'script'; trusted-types 'none'"),
  };
}
