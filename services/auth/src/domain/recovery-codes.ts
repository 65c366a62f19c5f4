import { randomBytes } from 'node:crypto';
import { sha256 } from './sha256.ts';
import { base32 } from './totp.ts';

const CODES = 10;
/** 80 bits, so that a fast hash keeps it secret and no number of guesses finds one. */
const CODE_BYTES = 10;

/** Codes that a person keeps for the day on which their device is lost, such as `k3jd-x2pl-7qaz-m4ty`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () =>
    base32(randomBytes(CODE_BYTES))
      .toLowerCase()
      .replaceAll(/.{4}(?=.)/g, '$&-'),
  );
}

/** Of a code as a person typed it. */
export function hashOfRecoveryCode(accountId: string, typed: string): Buffer {
  return sha256('recovery code', accountId, lettersOf(typed));
}

/** By its form, because people type one into the field of the other; null when it has the form of neither. */
export function kindOfCode(typed: string): 'code' | 'recovery code' | null {
  if (/^\d{6}$/.test(typed.replaceAll(/\s/g, ''))) return 'code';
  return lettersOf(typed).length === (CODE_BYTES * 8) / 5 ? 'recovery code' : null;
}

function lettersOf(typed: string): string {
  return typed.toLowerCase().replaceAll(/[^a-z2-7]/g, '');
}
