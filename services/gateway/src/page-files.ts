import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { pageHeaders } from './page-headers.ts';
import type { StaticFile } from './static-answer.ts';

/** A page and the files it is made of, by the last segment of their path. */
export interface PageFiles {
  readonly page: StaticFile;
  readonly files: ReadonlyMap<string, StaticFile>;
  /** The hash of all files. */
  readonly version: string;
}

/**
 * Writes the hash of all files of a page into their addresses, `<folder>/<hash>/<file>`, so that a browser loads each of them once
 * and asks for none again until one has changed. Modules that import each other by relative paths get the same hash.
 */
export function pageFiles(folder: string, page: StaticFile, files: PageFiles['files']): PageFiles {
  const hash = createHash('sha256');
  for (const [name, { bytes }] of files) hash.update(`${name} ${bytes.length} `).update(bytes);
  const version = hash.digest('hex').slice(0, 16);
  const html = page.bytes.toString().replaceAll(`="${folder}/`, `="${folder}/${version}/`);
  return { page: { ...page, bytes: Buffer.from(html) }, files, version };
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** A page or a file of one, whose name says its type. */
export function pageFile(name: string, content: string | Buffer, ...moreDirectives: readonly string[]): StaticFile {
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`${name} has an ending without a type: a browser would not take it`);
  return { type, bytes: Buffer.from(content), lines: pageHeaders(...moreDirectives) };
}

export function readPageFile(url: URL, ...moreDirectives: readonly string[]): StaticFile {
  return pageFile(url.pathname, readFileSync(url), ...moreDirectives);
}

/** Pages link to the account of a person, which is at another origin. */
export function withAccount(page: StaticFile, accountUrl: string): StaticFile {
  return { ...page, bytes: Buffer.from(page.bytes.toString().replaceAll('{account}', accountUrl)) };
}
