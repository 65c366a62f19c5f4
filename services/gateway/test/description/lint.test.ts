import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Spectral, type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import assert from 'node:assert/strict';
import { describeRoutes } from '../../src/openapi.ts';
import { API_ROUTES } from '../../src/routes.ts';
import { RULES } from './rules.ts';

/** A rule that the description does not follow, where and why. It follows all other rules of both linters. */
interface Exemption {
  readonly rule: string;
  /** Everywhere when missing. */
  readonly at?: RegExp;
  readonly why: string;
}

const GRAPHQL_WHY = 'What is wrong with an operation is an answer of GraphQL, in the media type of its draft.';
const SOCKET_WHY = 'A WebSocket succeeds with 101; operation-succeeds of our own rules requires one success.';
const TAGS_WHY = 'Tags have the order in which a new reader needs them.';

const REDOCLY: readonly Exemption[] = [
  { rule: 'operation-2xx-response', at: /~1sync~1ws\/get/, why: SOCKET_WHY },
  { rule: 'tags-alphabetical', why: TAGS_WHY },
  {
    rule: 'no-ambiguous-paths',
    at: /workspaces~1\{workspaceId\}~1(?:members|invitations|private-projects|deletion|restoration|security|access|security-events|apps)$/,
    why: 'The specification names both addresses, and no workspace has the id "by-slug": ids are UUIDs.',
  },
  { rule: 'operation-4xx-problem-details-rfc7807', why: 'The specification fixes the body of errors.' },
  { rule: 'path-segment-plural', why: 'The specification fixes the addresses.' },
  { rule: 'response-mime-type', at: /~1sync~1(?:bootstrap|batch)\//, why: 'Streams of lines, by the specification.' },
  { rule: 'response-mime-type', at: /~1graphql~1schema/, why: 'A document of GraphQL is text, by the specification.' },
  { rule: 'response-mime-type', at: /application~1graphql-response\+json$/, why: GRAPHQL_WHY },
  {
    rule: 'scalar-property-missing-example',
    why: 'Whole bodies have examples: answer-example and body-example of our own rules require them.',
  },
  {
    rule: 'required-string-property-missing-min-length',
    why: 'Texts in answers may be empty; input-bounded of our own rules requires a maximum for texts in requests.',
  },
];

const SPECTRAL: readonly Exemption[] = [
  { rule: 'error-shape', at: /^components responses 400\.malformed_json\.graphql content$/, why: GRAPHQL_WHY },
  { rule: 'operation-success-response', at: /^paths \/sync\/ws get/, why: SOCKET_WHY },
  { rule: 'openapi-tags-alphabetical', why: TAGS_WHY },
  { rule: 'contact-properties', why: 'The operator of a deployment and their address are unknown.' },
  { rule: 'license-url', why: 'OpenAPI 3.1 allows `identifier` or `url`, not both; the identifier is exact.' },
];

interface Finding {
  readonly rule: string;
  readonly at: string;
  readonly message: string;
}

function assertExempt(findings: readonly Finding[], exemptions: readonly Exemption[]): void {
  const covers = (exemption: Exemption, { rule, at }: Finding): boolean =>
    exemption.rule === rule && (exemption.at?.test(at) ?? true);
  const rest = findings.filter((finding) => !exemptions.some((exemption) => covers(exemption, finding)));
  assert.deepEqual(rest, []);
  // An exemption that is not needed any more would hide the next mistake.
  const idle = exemptions.filter((exemption) => !findings.some((finding) => covers(exemption, finding)));
  assert.deepEqual(idle, []);
}

describe('the description, checked by linters', () => {
  // Some rules check the address of the server, so it is one of a deployment.
  const document = describeRoutes(API_ROUTES, { serverUrl: 'https://tasks.acme.test' });

  it('follows all rules of Redocly except the listed ones [meta.openapi.lint]', async function redocly() {
    const config = await createConfig({ extends: ['all'] });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config });
    assertExempt(
      problems.map(({ ruleId, message, location }) => ({ rule: ruleId, at: location[0]?.pointer ?? '', message })),
      REDOCLY,
    );
  });

  it('follows all rules of Spectral except the listed ones, and all rules of this project [meta.openapi.lint]', async function spectral() {
    const linter = new Spectral();
    linter.setRuleset({ extends: [[oas as RulesetDefinition, 'all']], ...RULES });
    const results = await linter.run(structuredClone(document));
    assertExempt(
      results.map(({ code, message, path }) => ({ rule: String(code), at: path.join(' '), message })),
      SPECTRAL,
    );
  });

  it('is refused with an example that does not fit its schema', async function examples() {
    const routes = API_ROUTES.filter(({ contract }) => contract.path === '/api/workspaces');
    const text = JSON.stringify(describeRoutes(routes, { serverUrl: 'https://tasks.acme.test' }));
    const source = text.replace('"example":{"name":"Platform"', '"example":{"name":5');
    assert.notEqual(source, text);
    const config = await createConfig({ extends: ['all'] });
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    assert.ok(problems.some(({ ruleId }) => ruleId === 'no-invalid-media-type-examples'));
    const linter = new Spectral();
    linter.setRuleset({ extends: [[oas as RulesetDefinition, 'off']], rules: { 'oas3-valid-media-example': 'error' } });
    const results = await linter.run(JSON.parse(source) as Record<string, unknown>);
    assert.deepEqual(
      results.map(({ code, path }) => `${String(code)} ${path.join(' ')}`),
      ['oas3-valid-media-example paths /api/workspaces post requestBody content application/json example name'],
    );
  });
});
