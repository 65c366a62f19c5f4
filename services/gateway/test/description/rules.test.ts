import { Spectral } from '@stoplight/spectral-core';
import assert from 'node:assert/strict';
import { describeRoutes } from '../../src/openapi.ts';
import { API_ROUTES } from '../../src/routes.ts';
import { RULES } from './rules.ts';

/** The part of a description that the cases below change. */
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, Answer>;
    schemas: Record<string, Shape>;
    examples: Record<string, { value: { statusCode: number } }>;
  };
}
interface Operation {
  operationId?: string;
  summary: string;
  description?: string;
  security?: object[];
  'x-required-scope'?: string;
  parameters: { $ref?: string; schema?: object }[];
  requestBody: { content: Record<string, Content> };
  responses: Record<string, Answer>;
}
interface Answer {
  $ref?: string;
  description?: string;
  headers?: Record<string, object>;
  content?: Record<string, Content>;
}
interface Content {
  schema: Shape;
  example?: unknown;
}
interface Shape {
  $ref?: string;
  properties: Record<string, { type?: string; description?: string; maxLength?: number }>;
}

const CREATE = '/api/workspaces';
const MEMBERS = '/api/workspaces/{workspaceId}/members';
const create = ({ paths }: Document): Operation => paths[CREATE]!.post!;
const body = (document: Document): Content => create(document).requestBody.content['application/json']!;
const answer = (document: Document): Answer => create(document).responses['201']!;

/** For each rule, the smallest change that breaks only it. */
const BROKEN: Record<keyof typeof RULES.rules, readonly ((document: Document) => void)[]> = {
  'operation-id': [
    (document) => delete create(document).operationId,
    (document) => (create(document).operationId = 'create_workspace'),
  ],
  'operation-described': [
    (document) => delete create(document).description,
    (document) => (create(document).summary = 'Create a workspace.'),
    (document) => (create(document).summary = 'Create'),
  ],
  'operation-security': [(document) => delete create(document).security],
  'operation-scope': [
    (document) => delete create(document)['x-required-scope'],
    (document) => (create(document)['x-required-scope'] = 'root'),
    (document) => delete create(document).responses['401'],
    (document) => delete create(document).responses['403'],
    (document) => (create(document).security = []),
    ({ paths }) => (paths['/health']!.get!['x-required-scope'] = 'read'),
  ],
  'operation-version': [(document) => create(document).parameters.shift()],
  'operation-succeeds': [
    (document) => delete create(document).responses['201'],
    (document) => (create(document).responses['200'] = answer(document)),
    (document) => (answer(document).description = ''),
  ],
  'operation-fails': [
    (document) => delete create(document).responses['500'],
    (document) => delete create(document).responses['415'],
  ],
  'response-headers': [
    (document) => delete answer(document).headers!['Api-Version'],
    ({ components }) => delete components.responses['404']!.headers!['X-Request-Id'],
  ],
  'retry-after': [({ components }) => delete components.responses['503']!.headers!['Retry-After']],
  challenge: [({ components }) => delete components.responses['401']!.headers!['WWW-Authenticate']],
  'error-shape': [
    ({ components }) => (components.responses['404']!.content!['application/json']!.schema = { properties: {} }),
    ({ components }) =>
      (components.responses['404']!.content!['text/html'] = { schema: { properties: {} }, example: '' }),
  ],
  'error-shared': [(document) => (create(document).responses['404'] = document.components.responses['404']!)],
  'error-status': [({ components }) => (components.examples['not_found']!.value.statusCode = 410)],
  'answer-example': [(document) => delete answer(document).content!['application/json']!.example],
  'body-example': [(document) => delete body(document).example],
  'bodies-are-json': [(document) => (create(document).requestBody.content['text/plain'] = body(document))],
  'path-ids': [({ paths }) => (paths[MEMBERS]!.get!.parameters[1]!.schema = { type: 'string', maxLength: 36 })],
  'field-described': [
    (document) => delete body(document).schema.properties['name']!.description,
    ({ components }) => delete components.schemas['TaskRecord']!.properties['number']!.description,
  ],
  'input-bounded': [
    (document) => delete body(document).schema.properties['name']!.maxLength,
    ({ paths }) =>
      (paths['/api/workspaces/by-slug/{slug}']!.get!.parameters[1]!.schema = { type: 'string', pattern: '^a+$' }),
    (document) => (body(document).schema.properties['name'] = { type: 'array', description: 'A list.' }),
  ],
  'no-accidental-list': [
    (document) =>
      (create(document).description = 'What is in a workspace you are not in is 404, never\n403. And more.'),
  ],
  'nothing-internal': [({ paths }) => (paths['/internal/commit'] = paths['/health']!)],
};

describe('each rule of our own about the description', () => {
  const describe = (...paths: string[]): string => {
    const routes = API_ROUTES.filter(({ contract }) => paths.includes(contract.path));
    return JSON.stringify(describeRoutes(routes, { serverUrl: 'https://tasks.acme.test' }));
  };
  const small = describe(CREATE, MEMBERS, '/api/workspaces/by-slug/{slug}', '/health');
  /** With the records of all models. */
  const large = describe('/sync/deltas');
  const linter = new Spectral();
  linter.setRuleset(RULES);
  const brokenIn = async (change: (document: Document) => unknown): Promise<string[]> => {
    const changed = JSON.parse(String(change).includes('TaskRecord') ? large : small) as Document;
    change(changed);
    const results = await linter.run({ ...changed });
    return [...new Set(results.map(({ code }) => String(code)))];
  };

  it('is followed by the description', async () => {
    assert.deepEqual(await brokenIn(() => undefined), []);
  });

  for (const [rule, changes] of Object.entries(BROKEN)) {
    it(`is broken only by its own mistake: ${rule}`, async () => {
      for (const change of changes) assert.deepEqual(await brokenIn(change), [rule], String(change));
    });
  }
});
