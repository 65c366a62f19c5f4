import type { CommandSpec } from '../spec.ts';

export const GRAPHQL: CommandSpec = {
  name: 'graphql',
  summary: 'Run a GraphQL operation',
  examples: [
    {
      command: "wts graphql '{ viewer { name } }'",
      prints: '{\n  "viewer": {\n    "name": "Demo Owner"\n  }\n}',
    },
    { command: 'wts graphql @query.graphql --var first=20 --var urlKey=acme' },
  ],
  args: [{ form: '[document]', about: 'The document; @file reads it from a file, - or nothing from stdin.' }],
  options: [
    { flags: '-f, --file <path>', about: 'Read the document from this file.' },
    {
      flags: '--var <name=value>',
      about: 'A variable. Numbers, true, false, null and JSON are values of their kind, else a text.',
      isRepeated: true,
    },
    {
      flags: '--paginate',
      about: 'All pages: the document has the variable $endCursor, and selects pageInfo { hasNextPage endCursor }.',
    },
  ],
  load: async () => (await import('../../commands/graphql.ts')).graphql,
};

export const API: CommandSpec = {
  name: 'api',
  summary: 'Send a request to the API with your credential',
  about: 'Prints the body of the answer. The exit code is that of the error, if it is one.',
  examples: [
    { command: 'wts api /api/workspaces' },
    { command: 'wts api POST /api/workspaces -F name=Acme -F urlKey=acme' },
  ],
  args: [
    { form: '<method-or-path>', about: 'GET (which may be left out), POST, PATCH, DELETE.' },
    { form: '[path]', about: 'The path, such as /api/workspaces.' },
  ],
  options: [
    { flags: '-F, --field <name=value>', about: 'A field of the body, or of the query of a GET.', isRepeated: true },
    { flags: '--input <file>', about: 'The body: a file, or - for stdin.' },
    { flags: '-H, --header <name: value>', about: 'A header.', isRepeated: true },
    { flags: '-i, --include', about: 'Print the status and the headers too.' },
    { flags: '--paginate', about: 'All pages of a list, one answer after the other.' },
  ],
  load: async () => (await import('../../commands/api.ts')).api,
};
