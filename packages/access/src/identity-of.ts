import type { VerifiedJwt } from './jwt.ts';

/** The claims of a verified JWT about a person; the auth service resolves them to a user. */
export interface TokenIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly avatarUrl?: string;
}

/**
 * The identity that verified claims describe. The token of a request and the sign-in at the same provider give the same one.
 * `trustsEmails` is the setting of the issuer.
 */
export function identityOf(
  { issuer, subject, claims }: Pick<VerifiedJwt, 'issuer' | 'subject' | 'claims'>,
  trustsEmails: boolean,
): TokenIdentity {
  const { name, email, picture } = claims;
  const emailVerified = isVerified(claims, trustsEmails);
  return {
    issuer,
    subject,
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof email === 'string' ? { email } : {}),
    ...(emailVerified === undefined ? {} : { emailVerified }),
    ...(typeof picture === 'string' ? { avatarUrl: picture } : {}),
  };
}

/**
 * Some providers write the claim as text; `true` and `"true"` verify the address, any other value does not. Undefined when
 * the token has no such claim and its issuer is not configured to verify every address. Keeps authentication.jwt.email-verified.
 */
function isVerified(claims: VerifiedJwt['claims'], trustsEmails: boolean): boolean | undefined {
  if (!Object.hasOwn(claims, 'email_verified')) return trustsEmails ? true : undefined;
  const claim = claims['email_verified'];
  return claim === true || claim === 'true';
}
