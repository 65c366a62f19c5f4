const CHARS_MIN = 32;
/** A random secret of 32 characters has some 30 of them, in hex too; a short text said several times has a few. */
const TRIPLES_MIN = 24;
const PLACEHOLDER = /change.?me|pass.?word|example|placeholder|replace.?(?:me|this)|your.?secret|insert.?here/i;

/**
 * What is wrong with a secret that two machines share, as the end of the sentence "VARIABLE ..."; null when nothing shows.
 * It finds what people write instead of a secret, and says nothing of how well the rest was drawn.
 */
export function weaknessOf(secret: string): string | null {
  if (secret.length < CHARS_MIN) return `must have at least ${CHARS_MIN} characters; ${ADVICE}`;
  if (PLACEHOLDER.test(secret)) return `is a placeholder; ${ADVICE}`;
  if (triplesOf(secret) < TRIPLES_MIN) return `repeats itself and is easy to guess; ${ADVICE}`;
  if (isSequence(secret)) return `is a sequence and easy to guess; ${ADVICE}`;
  return null;
}

const ADVICE = 'draw one, such as with openssl rand -base64 32';

/** How many different runs of three characters it holds. */
function triplesOf(secret: string): number {
  return new Set(Array.from({ length: secret.length - 2 }, (_, at) => secret.slice(at, at + 3))).size;
}

/** Most characters follow from the one before: abcdef, 9876, aceg. */
function isSequence(secret: string): boolean {
  const steps = Array.from({ length: secret.length - 1 }, (_, at) => secret.charCodeAt(at + 1) - secret.charCodeAt(at));
  const repeated = steps.filter((step, at) => step === steps[at - 1]).length;
  return repeated > steps.length / 2;
}
