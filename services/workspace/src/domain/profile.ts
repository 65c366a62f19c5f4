import { User } from '@wts/models';
import { domainToASCII } from 'node:url';

/** What an identity provider says of a person. Any of it may be missing, too long or nonsense. */
export interface Claims {
  readonly name?: string;
  readonly email?: string;
  readonly avatarUrl?: string;
}

export interface Profile {
  readonly name: string;
  readonly email: string | null;
  readonly avatarUrl: string | null;
}

const NAME_CODE_POINTS_MAX = 200;
const UNNAMED = 'Unnamed';
const ADDRESS = /^[^\s@]+@[^\s@]+$/u;

/**
 * The profile of a new person. A claim never keeps somebody from signing in: what does not fit the User model is cut or
 * left out, so that the commit can only be refused for reasons of ours.
 */
export function profileOf(claims: Claims): Profile {
  const email = readEmail(claims.email);
  return {
    name: readName(claims.name) ?? readName(email?.slice(0, email.indexOf('@'))) ?? UNNAMED,
    email,
    avatarUrl: accepted('avatarUrl', claims.avatarUrl?.trim()),
  };
}

/** An address as it is kept, or null when the text is none. */
export function readEmail(text: string | undefined): string | null {
  const address = text?.trim();
  return address !== undefined && ADDRESS.test(address) ? accepted('email', address) : null;
}

/**
 * Addresses are compared without regard to case: no provider in use gives two people addresses that differ in nothing else.
 * A domain of other letters is also written in ASCII (RFC 5891).
 */
export function sameAddress(a: string, b: string): boolean {
  return comparable(a) === comparable(b);
}

function comparable(address: string): string {
  const plain = address.normalize('NFC').toLowerCase();
  const name = plain.slice(0, plain.lastIndexOf('@') + 1);
  const domain = plain.slice(name.length);
  return name + (domainToASCII(domain) || domain);
}

function readName(text: string | undefined): string | null {
  if (text === undefined) return null;
  // Control characters, line breaks included, become one blank: names stand in lists and mails.
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return accepted('name', [...line].slice(0, NAME_CODE_POINTS_MAX).join('').trim());
}

function accepted(field: 'name' | 'email' | 'avatarUrl', value: string | undefined): string | null {
  if (value === undefined) return null;
  const reading = User.fields[field].read(value);
  return reading.ok ? reading.value : null;
}
