import { Fault, isUuid, oauthApi, type Principal, type ResolvedGrant } from '@wts/contracts';
import { apiResourceOf, issuerOf, mcpResourceOf, type CellAddresses } from './issuer-of.ts';
import type { Issuer } from './issuers.ts';
import type { FetchJwks } from './jwks.ts';
import type { VerifiedJwt } from './jwt.ts';
import { includesScope } from './principal.ts';

/** What a verifier of our own access tokens needs. */
export interface AccessTokens {
  readonly issuer: Issuer;
  /** Null for a grant that is unknown, revoked or expired. */
  readonly resolveGrant: (grantId: string, sender: string) => Promise<ResolvedGrant | null>;
}

interface AccessTokenOptions extends CellAddresses {
  /** Fetches the key set of the authorization server. */
  readonly fetchKeys: FetchJwks;
}

/**
 * The authorization server as an issuer of tokens. Its type and algorithm are accepted from no other issuer by default, and no
 * other type from it, so a token of one family never passes as one of the other. Its first audience is the API.
 * Keeps authentication.oauth.families.
 */
export function accessTokenIssuer({ fetchKeys, ...cell }: AccessTokenOptions): Issuer {
  const issuer = issuerOf(cell.authUrl);
  return {
    issuer,
    audiences: [apiResourceOf(cell.baseUrl), mcpResourceOf(cell)],
    algorithms: ['ES256'],
    types: ['at+jwt'],
    key: { jwksUri: `${issuer}/jwks`, fetch: fetchKeys },
    trustsEmails: false,
  };
}

const { GRANT_SCOPES } = oauthApi;

/**
 * The principal of a verified access token: what both the token and its grant allow, as long as the grant exists.
 * Keeps authentication.oauth.accepted.
 */
export async function principalOfAccessToken(
  { subject, claims, expiresAt }: VerifiedJwt,
  { resolveGrant }: AccessTokens,
  sender: string,
): Promise<Principal> {
  const { gid, client_id: clientId, scope } = claims;
  if (!isUuid(gid)) throw refused('gid');
  if (typeof scope !== 'string') throw refused('scope');
  const grant = await resolveGrant(gid, sender);
  if (grant === null || grant.userId !== subject || grant.clientId !== clientId) throw refused('grant');
  const asked = GRANT_SCOPES.filter((one) => scope.split(' ').includes(one));
  const scopes = GRANT_SCOPES.filter((one) => includesScope(asked, one) && includesScope(grant.scopes, one));
  const principal: Principal = { userId: subject, scopes, credential: { kind: 'oauth', id: gid }, expiresAt };
  return typeof grant.workspaceId === 'string' ? { ...principal, workspaceId: grant.workspaceId } : principal;
}

function refused(check: string): Fault {
  return new Fault('token_invalid', { cause: new Error(`access token refused: ${check}`) });
}
