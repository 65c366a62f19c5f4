/**
 * The issuer of access tokens: AUTH_URL without a slash at its end. Metadata, the parameter `iss` and the claim `iss` have exactly
 * this text, because clients compare it byte for byte (RFC 8414 section 3.3, RFC 9207 section 2.4).
 */
export function issuerOf(authUrl: string): string {
  return withoutSlash(authUrl);
}

/** The resource identifier of the agent endpoint (RFC 8707). */
export function mcpResourceOf(authUrl: string): string {
  return `${issuerOf(authUrl)}/mcp`;
}

/** The resource identifier of the API. */
export function apiResourceOf(baseUrl: string): string {
  return withoutSlash(baseUrl);
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
