import type { BodyOf, credentialApi } from '@wts/contracts';
import { User, type RecordOf } from '@wts/models';
import { hasHidden, shownName } from './shown-name.ts';

/** Who an identity provider says that a person is: issuer, subject and claims. */
export type IdentityClaims = BodyOf<typeof credentialApi.internalResolvePerson>;

/** Claims of an identity provider about a person. Any of them may be missing, too long or invalid. */
type Claims = Pick<IdentityClaims, 'name' | 'email' | 'avatarUrl'>;
type Profile = Pick<RecordOf<typeof User>, 'name' | 'email' | 'avatarUrl'>;

const NAME_CODE_POINTS_MAX = 200;
const UNNAMED = 'Unnamed';
const ADDRESS = /^[^\s@]+@[^\s@]+$/u;

/**
 * The profile of a new person. No claim may prevent a sign-in, so a claim that does not fit the User model is shortened or
 * left out.
 */
export function profileOf(claims: Claims): Profile {
  const email = readEmail(claims.email);
  return {
    name: readName(claims.name) ?? readName(email?.slice(0, email.indexOf('@'))) ?? UNNAMED,
    email,
    avatarUrl: validOrNull('avatarUrl', claims.avatarUrl?.trim()),
  };
}

/** An address as it is stored, or null when the text is not an address. */
export function readEmail(text: string | undefined): string | null {
  const address = text?.trim();
  return address !== undefined && ADDRESS.test(address) && !hasHidden(address) ? validOrNull('email', address) : null;
}

/** A name as people are shown with it; null when nothing of it can be seen. */
export function readName(text: string | undefined): string | null {
  if (text === undefined) return null;
  // Control characters, also line breaks, become one space, because lists and mails show names on one line.
  return validOrNull('name', shownName(text.replaceAll(/[\p{Cc}\s]+/gu, ' '), NAME_CODE_POINTS_MAX));
}

function validOrNull(field: 'name' | 'email' | 'avatarUrl', value: string | undefined): string | null {
  if (value === undefined) return null;
  const reading = User.fields[field].read(value);
  return reading.ok ? reading.value : null;
}
