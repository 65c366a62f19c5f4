import { readdirSync } from 'node:fs';
import { pageFiles, readPageFile, withAccount, type PageFiles } from '../page-files.ts';
import type { StaticFile } from '../static-answer.ts';

/**
 * The webhooks console at `/console`: a page for who runs a webhook endpoint. It is made of the files of `page/`, which are sent
 * as they are: plain modules whose types are in comments. All are in memory from the start, so a request names a file of a closed
 * list and never a path on disk. The page uses the public API with the key that a person enters, so the gateway treats its
 * requests like all others. Keeps console.page.files.
 */
export function readConsole(accountUrl: string): PageFiles {
  const names = readdirSync(new URL('page/', import.meta.url)).filter((name) => /\.(?:css|js)$/.test(name));
  const files = new Map(names.map((name) => [name, file(name)]));
  return pageFiles('console', withAccount(file('index.html'), accountUrl), files);
}

/**
 * Beside what holds for every page: the browser refuses to parse a text as HTML or as a program (Trusted Types), because the
 * texts that the page shows come from others. Keeps console.page.closed.
 */
function file(name: string): StaticFile {
  const directives = "require-trusted-types-for 'script'; trusted-types 'none'";
  return readPageFile(new URL(`page/${name}`, import.meta.url), directives);
}
