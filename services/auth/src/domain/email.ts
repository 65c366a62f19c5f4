import { domainToASCII } from 'node:url';

/**
 * The form in which addresses are compared: without regard to case, because no provider in use gives two people addresses that
 * differ only in case, and with the domain in ASCII (RFC 5891).
 */
export function comparableEmail(address: string): string {
  const plain = address.trim().normalize('NFC').toLowerCase();
  const name = plain.slice(0, plain.lastIndexOf('@') + 1);
  const domain = plain.slice(name.length);
  return name + (domainToASCII(domain) || domain);
}
