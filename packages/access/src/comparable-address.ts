import { domainToASCII } from 'node:url';

const ASCII = /[\0-\x7f]/;

/**
 * The form in which e-mail addresses are compared: without regard to case, because no provider in use gives two people addresses
 * that differ only in case, and with the domain in ASCII (RFC 5891). No other letter becomes an ASCII letter in the name: a name
 * with such a letter, as the Kelvin sign is one, equals itself only, because otherwise it could be taken for that of another person.
 * Keeps workspaces.join.address.
 */
export function comparableAddress(address: string): string {
  const text = address.trim();
  const at = text.lastIndexOf('@') + 1;
  const name = text.slice(0, at);
  const domain = fold(text.slice(at));
  return ([...name].some(becomesAscii) ? name : fold(name)) + (domainToASCII(domain) || domain);
}

function becomesAscii(letter: string): boolean {
  return letter > '\x7f' && ASCII.test(fold(letter));
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
