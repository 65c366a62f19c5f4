import { domainToASCII } from 'node:url';

/**
 * Compares addresses without regard to case, because no provider in use gives two people addresses that differ only in case.
 * A domain with other letters equals its ASCII form (RFC 5891).
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
