type Claims = Readonly<Record<string, unknown>>;

const ADDRESS: readonly string[] = ['email', 'email_verified'];

/**
 * The claims of an ID token with those that only userinfo has. The address and whether it is verified are of one source, because the other
 * one may be about another address. Keeps authentication.provider.address.
 */
export function mergedClaims(idToken: Claims, userinfo: Claims): Claims {
  if (Object.hasOwn(idToken, 'email')) return { ...withoutAddress(userinfo), ...idToken };
  return { ...userinfo, ...withoutAddress(idToken) };
}

function withoutAddress(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !ADDRESS.includes(name)));
}
