import jwt from 'jsonwebtoken';

/** Claims about a person, as identity providers put them into tokens. */
export interface TokenClaims {
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly picture?: string;
}

export interface Issuer {
  readonly issuer: string;
  readonly audience: string;
  readonly secret: string;
}

const HOURS = 3600;

/** Signs a token as the identity provider of the system does. */
export function signToken({ issuer, audience, secret }: Issuer, subject: string, claims: TokenClaims = {}): string {
  return jwt.sign({ ...claims }, secret, { algorithm: 'HS256', issuer, audience, subject, expiresIn: 12 * HOURS });
}
