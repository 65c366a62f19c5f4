import type { Rule } from './rule.ts';

/** GraphQL: sections 4.4, 5 and 8 of the specification. */
export const graphql: readonly Rule[] = [
  {
    id: 'graphql.post.body',
    source: 'Specification 4.4',
    text: '`POST /graphql` takes a required `query` and optional `variables`.',
    home: null,
    status: 'planned',
  },
  {
    id: 'graphql.post.answer',
    source: 'Specification 4.4',
    text: '`POST /graphql` answers 200 with `data` and `errors`.',
    home: null,
    status: 'planned',
  },
  {
    id: 'graphql.schema.sdl',
    source: 'Specification 4.4',
    text: '`GET /graphql/schema.graphql` answers 200 `text/plain`: the schema document with its deprecation reasons.',
    home: null,
    status: 'planned',
  },
  {
    id: 'graphql.schema.introspection',
    source: 'Specification 4.4',
    text: 'Introspection hides deprecated items unless `includeDeprecated: true` is passed.',
    home: null,
    status: 'planned',
  },
  {
    id: 'graphql.scope.any-bearer',
    source: 'Specification 5',
    text: '`POST /graphql` is open to any bearer credential, and to OAuth with `read`.',
    home: null,
    status: 'planned',
  },
  {
    id: 'graphql.limit.rate',
    source: 'Specification 8',
    text: '`POST /graphql` takes 100 requests per 60 seconds per IP.',
    home: null,
    status: 'planned',
  },
  {
    id: 'graphql.limit.depth',
    source: 'Specification 8',
    text: 'A query is at most 10 levels deep.',
    home: null,
    status: 'planned',
  },
  {
    id: 'graphql.writes.one-log',
    source: 'Design 2',
    text: 'A mutation is a commit of the sync log like any other.',
    home: null,
    status: 'planned',
  },
];
