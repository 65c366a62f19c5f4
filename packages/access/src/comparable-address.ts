import { domainToASCII } from 'node:url';

const ASCII = /^[\0-\x7f]+$/;

/**
 * The form in which e-mail addresses are compared: without regard to case, because no provider in use gives two people addresses
 * that differ only in case, and with the domain in ASCII (RFC 5891). A letter of the name that would
 * become an ASCII one, as the Kelvin sign would, stays as it is, because otherwise the name could be taken for that of another person.
 * Keeps workspaces.join.address.
 */
export function comparableAddress(address: string): string {
  const text = address.trim();
  const at = text.lastIndexOf('@') + 1;
  const name = text.slice(0, at);
  const domain = fold(text.slice(at));
  return foldName(name) + (domainToASCII(domain) || domain);
}

function foldName(name: string): string {
  let folded = '';
  let run = '';
  for (const letter of name) {
    if (!becomesAscii(letter)) run += letter;
    else {
      folded += fold(run) + letter;
      run = '';
    }
  }
  return folded + fold(run);
}

function becomesAscii(letter: string): boolean {
  return letter > '\x7f' && ASCII.test(fold(letter));
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
