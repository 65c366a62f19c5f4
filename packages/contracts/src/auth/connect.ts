import { newKeySchema } from '../api-keys.ts';
import { contract } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { objectOf, okBody } from '../parts.ts';
import { form, page } from './pages.ts';

/*
 * How the command line signs in: it sends the person to a page of {auth_url}, gets a code, and exchanges that for a personal API key.
 * No OAuth client can do this, and no grant type is added to `/token`: infra/decisions/0027-sign-in-of-the-command-line.md.
 */

/** Takes `name`, `challenge`, and `port` with `state`, or neither; also `access`, the one that the tool asks for. */
export const connect = page('connect', '/account/connect', 'Where a command line sends a person for an API key');
export const decisionPage = page(
  'connectDecisionPage',
  '/account/connect/decision',
  'Where the person decides about it',
);
export const decision = form(
  'connectDecision',
  '/account/connect/decision',
  'The decision, which leads to the tool with a code',
);

export const exchangeCode = contract({
  id: 'exchangeConnectCode',
  method: 'POST',
  path: '/account/connect/key',
  summary: 'Exchange the code of /account/connect for an API key',
  tag: 'Meta',
  scope: 'none',
  body: objectOf({
    code: { type: 'string', pattern: '^wtsc_[0-9a-f]{64}$', description: 'Works once.' },
    verifier: {
      type: 'string',
      pattern: '^[A-Za-z0-9._~-]{43,128}$',
      description: 'The text whose SHA-256 is the challenge (RFC 7636).',
    },
  }),
  bodyBytesMax: LIMITS.formBytes,
  reply: {
    status: 201,
    schema: okBody({
      key: newKeySchema,
      apiUrl: { type: 'string', description: 'The only server that the token may be sent to.' },
    }),
  },
  errors: ['invalid_grant', 'conflict'],
});

/** For a tool that signs out: its key may have no scope for this, so who has the token may end it. */
export const endKey = contract({
  id: 'endConnectedKey',
  method: 'POST',
  path: '/account/connect/sign-out',
  summary: 'Revoke an API key by its token',
  description: 'The answer is the same for a token that is unknown, expired or revoked.',
  tag: 'Meta',
  scope: 'none',
  body: objectOf({ token: { type: 'string', minLength: 1, maxLength: 200 } }),
  bodyBytesMax: LIMITS.formBytes,
  reply: { status: 200, schema: okBody({}) },
});
