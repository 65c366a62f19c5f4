type Claims = Readonly<Record<string, unknown>>;

const ADDRESS: readonly string[] = ['email', 'email_verified'];

/**
 * The claims of an ID token with those that only userinfo has. The address and whether it is verified are of one source, because the other
 * one may be about another address; when both have the same address, a verification that only userinfo has counts.
 * Keeps authentication.provider.address.
 */
export function mergedClaims(idToken: Claims, userinfo: Claims): Claims {
  if (!Object.hasOwn(idToken, 'email')) return { ...userinfo, ...withoutAddress(idToken) };
  return { ...(userinfo['email'] === idToken['email'] ? userinfo : withoutAddress(userinfo)), ...idToken };
}

function withoutAddress(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !ADDRESS.includes(name)));
}
