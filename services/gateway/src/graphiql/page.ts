import { readFileSync } from 'node:fs';
import { meta } from '@wts/contracts';
import { pageHeaders } from '../page-headers.ts';
import type { Route } from '../routes.ts';
import type { StaticFile } from '../static-answer.ts';

/** The routes of the page, which are there only with the setting GRAPHIQL. */
export const GRAPHIQL_ROUTES: readonly Route[] = [
  { contract: meta.graphiqlPage, to: 'gateway' },
  { contract: meta.graphiqlFile, to: 'gateway' },
];

interface GraphiqlFiles {
  readonly page: StaticFile;
  /** By the last segment of their path. */
  readonly files: ReadonlyMap<string, StaticFile>;
}

/**
 * GraphiQL, a page to write and run operations, for development: its prebuilt file and that of React, and three small files of
 * ours. All are in memory from the start, so a request names a file of a closed list and never a path on disk. The page loads
 * nothing from elsewhere, and uses the public API with the key that a person enters. Keeps graphql.page.
 */
export function readGraphiql(): GraphiqlFiles {
  return {
    page: own('index.html', 'text/html; charset=utf-8'),
    files: new Map([
      ['start.js', own('start.js', SCRIPT)],
      ['style.css', own('style.css', STYLE)],
      ['graphiql.min.js', built('graphiql', 'graphiql.min.js', SCRIPT)],
      ['graphiql.min.css', built('graphiql', 'graphiql.min.css', STYLE)],
      ['react.production.min.js', built('react', 'umd/react.production.min.js', SCRIPT)],
      ['react-dom.production.min.js', built('react-dom', 'umd/react-dom.production.min.js', SCRIPT)],
    ]),
  };
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

function own(name: string, type: string): StaticFile {
  return file(new URL(`page/${name}`, import.meta.url), type);
}

function built(from: 'graphiql' | 'react' | 'react-dom', path: string, type: string): StaticFile {
  return file(new URL(path, import.meta.resolve(`${from}/package.json`)), type);
}

/** The style sheet of GraphiQL contains its fonts. */
function file(url: URL, type: string): StaticFile {
  return { type, bytes: readFileSync(url), lines: pageHeaders('font-src data:') };
}
