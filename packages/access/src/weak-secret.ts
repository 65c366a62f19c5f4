const CHARS_MIN = 32;
/** A random secret of 32 characters has about 30 of them, also in hex; a repeated short text has a few. */
const TRIPLES_MIN = 24;
const PLACEHOLDER = /change.?me|pass.?word|example|placeholder|replace.?(?:me|this)|your.?secret|insert.?here/i;

/**
 * The weakness of a shared secret, as the end of the sentence "VARIABLE ..."; null when none is found. It finds texts that people
 * write instead of a secret, and cannot measure randomness.
 */
export function weaknessOf(secret: string): string | null {
  if (secret.length < CHARS_MIN) return `must have at least ${CHARS_MIN} characters; ${ADVICE}`;
  if (PLACEHOLDER.test(secret)) return `is a placeholder; ${ADVICE}`;
  if (triplesOf(secret) < TRIPLES_MIN) return `repeats itself and is easy to guess; ${ADVICE}`;
  if (isSequence(secret)) return `is a sequence and easy to guess; ${ADVICE}`;
  return null;
}

const ADVICE = 'draw one, such as with openssl rand -base64 32';

/** The number of different sequences of three characters. */
function triplesOf(secret: string): number {
  return new Set(Array.from({ length: secret.length - 2 }, (_, at) => secret.slice(at, at + 3))).size;
}

/** True when most characters continue a sequence: abcdef, 9876, aceg. */
function isSequence(secret: string): boolean {
  const steps = Array.from({ length: secret.length - 1 }, (_, at) => secret.charCodeAt(at + 1) - secret.charCodeAt(at));
  const repeated = steps.filter((step, at) => step === steps[at - 1]).length;
  return repeated > steps.length / 2;
}
