import { pageFiles, readPageFile, type PageFiles } from '../page-files.ts';
import type { StaticFile } from '../static-answer.ts';

/**
 * GraphiQL, a page to write and run operations, for development: its prebuilt file and that of React, and three small files of
 * ours. All are in memory from the start, so a request names a file of a closed list and never a path on disk. The page loads
 * nothing from elsewhere, and uses the public API with the key that a person enters. Keeps graphql.page.
 */
export function readGraphiql(): PageFiles {
  return pageFiles(
    'graphql/ui',
    own('index.html'),
    new Map([
      ['start.js', own('start.js')],
      ['style.css', own('style.css')],
      ['graphiql.min.js', file('graphiql.min.js', GRAPHIQL)],
      ['graphiql.min.css', file('graphiql.min.css', GRAPHIQL)],
      ['react.production.min.js', file('umd/react.production.min.js', REACT)],
      ['react-dom.production.min.js', file('umd/react-dom.production.min.js', REACT_DOM)],
    ]),
  );
}

const GRAPHIQL = import.meta.resolve('graphiql/package.json');
const REACT = import.meta.resolve('react/package.json');
const REACT_DOM = import.meta.resolve('react-dom/package.json');

function own(name: string): StaticFile {
  return file(`page/${name}`, import.meta.url);
}

/** A file beside another one. The style sheet of GraphiQL contains its fonts. */
function file(path: string, beside: string): StaticFile {
  return readPageFile(new URL(path, beside), 'font-src data:');
}
