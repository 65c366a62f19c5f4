import { createHmac, timingSafeEqual } from 'node:crypto';

/** What every authenticator app has without asking: SHA-1, six digits, 30 seconds (RFC 6238). */
const STEP_SECONDS = 30;
const DIGITS = 6;
/** Clocks of phones differ, and a person types slowly: the code before and the one after are right too. */
const STEPS_AROUND = 1;
/** RFC 4226 section 4 recommends 160 bits. */
export const TOTP_SECRET_BYTES = 20;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of a time step (RFC 4226 section 5.3). */
export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE(mac.readUInt8(mac.length - 1) & 15) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The time step of a code that is right at this moment; null for a wrong one. */
export function stepOfCode(secret: Buffer, code: string, atSeconds: number): number | null {
  const given = Buffer.from(code.replaceAll(/\s/g, ''));
  const now = Math.floor(atSeconds / STEP_SECONDS);
  let found: number | null = null;
  for (let step = now - STEPS_AROUND; step <= now + STEPS_AROUND; step += 1) {
    const right = Buffer.from(totpCode(secret, step));
    if (given.length === right.length && timingSafeEqual(given, right)) found = step;
  }
  return found;
}

/** Base32 without padding (RFC 4648), as apps take a secret that is typed. */
export function base32(bytes: Buffer): string {
  let text = '';
  let [value, bits] = [0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31];
    value &= 31;
  }
  return bits === 0 ? text : text + BASE32[(value << (5 - bits)) & 31];
}

/** What the QR code holds: https://github.com/google/google-authenticator/wiki/Key-Uri-Format. */
export function totpAddress(secret: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
