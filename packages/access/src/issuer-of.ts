/**
 * The issuer of access tokens: AUTH_URL without a slash at its end. Metadata, the parameter `iss` and the claim `iss` have exactly
 * this text, because clients compare it byte for byte (RFC 8414 section 3.3, RFC 9207 section 2.4).
 */
export function issuerOf(authUrl: string): string {
  if (!ISSUER.test(authUrl)) {
    throw new Error(
      'must have no user name, query, fragment, empty segment or characters of a path other than A-Z a-z 0-9 . _ ~ -',
    );
  }
  return withoutSlash(authUrl);
}

/** RFC 8414 section 2 allows a path only. Its characters are those that no proxy and no client writes in another way. */
const ISSUER = /^https?:\/\/[^\s/?#@]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/i;

/** What decides where the agent endpoint of a cell is. An installation without further cells is cell 0. */
export interface CellAddresses {
  readonly shard?: number | undefined;
  readonly baseUrl: string;
  readonly authUrl: string;
}

/** The resource identifier of the agent endpoint (RFC 8707). */
export function mcpResourceOf(cell: CellAddresses): string {
  return `${agentOriginOf(cell)}/mcp`;
}

/** Where clients find the document of the agent endpoint (RFC 9728). */
export function mcpMetadataUrlOf(cell: CellAddresses): string {
  return `${agentOriginOf(cell)}/.well-known/oauth-protected-resource/mcp`;
}

/**
 * Cell 0 has the agent endpoint at the authorization origin, which it serves; each further cell has it at its own address.
 * Keeps agent.cells.address.
 */
function agentOriginOf({ shard = 0, baseUrl, authUrl }: CellAddresses): string {
  return shard === 0 ? issuerOf(authUrl) : apiResourceOf(baseUrl);
}

/** The resource identifier of the API. */
export function apiResourceOf(baseUrl: string): string {
  return withoutSlash(baseUrl);
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
