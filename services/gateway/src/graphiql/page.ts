import { readFileSync } from 'node:fs';
import { pageHeaders } from '../page-headers.ts';
import { pageFiles, type PageFiles } from '../page-files.ts';
import type { StaticFile } from '../static-answer.ts';

/**
 * GraphiQL, a page to write and run operations, for development: its prebuilt file and that of React, and three small files of
 * ours. All are in memory from the start, so a request names a file of a closed list and never a path on disk. The page loads
 * nothing from elsewhere, and uses the public API with the key that a person enters. Keeps graphql.page.
 */
export function readGraphiql(): PageFiles {
  return pageFiles(
    'graphql/ui',
    own('index.html', 'text/html; charset=utf-8'),
    new Map([
      ['start.js', own('start.js', SCRIPT)],
      ['style.css', own('style.css', STYLE)],
      ['graphiql.min.js', built(GRAPHIQL, 'graphiql.min.js', SCRIPT)],
      ['graphiql.min.css', built(GRAPHIQL, 'graphiql.min.css', STYLE)],
      ['react.production.min.js', built(REACT, 'umd/react.production.min.js', SCRIPT)],
      ['react-dom.production.min.js', built(REACT_DOM, 'umd/react-dom.production.min.js', SCRIPT)],
    ]),
  );
}

const GRAPHIQL = import.meta.resolve('graphiql/package.json');
const REACT = import.meta.resolve('react/package.json');
const REACT_DOM = import.meta.resolve('react-dom/package.json');

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

function own(name: string, type: string): StaticFile {
  return file(new URL(`page/${name}`, import.meta.url), type);
}

/** A file of a package, beside its package.json. */
function built(packageUrl: string, path: string, type: string): StaticFile {
  return file(new URL(path, packageUrl), type);
}

/** The style sheet of GraphiQL contains its fonts. */
function file(url: URL, type: string): StaticFile {
  return { type, bytes: readFileSync(url), lines: pageHeaders('font-src data:') };
}
