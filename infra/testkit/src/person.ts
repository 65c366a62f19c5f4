import jwt from 'jsonwebtoken';

/** What an identity provider would say about somebody. */
export interface Claims {
  readonly name?: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly picture?: string;
}

export interface Issuing {
  readonly issuer: string;
  readonly audience: string;
  readonly secret: string;
}

const HOURS = 3600;

/** A token as the system's identity provider signs it. */
export function signToken({ issuer, audience, secret }: Issuing, subject: string, claims: Claims = {}): string {
  return jwt.sign({ ...claims }, secret, { algorithm: 'HS256', issuer, audience, subject, expiresIn: 12 * HOURS });
}
