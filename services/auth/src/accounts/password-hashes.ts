import { FairGate } from '@wts/service-kit/fairness';
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';
import { normalizePassword } from '../domain/password-rules.ts';
import { AUTH_LIMITS } from '../limits.ts';

/** Exported for tests. */
export const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const FORMAT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/;

interface Cost {
  /** The binary logarithm of N. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

interface Sender {
  /** The network, by which the right to hash is shared. */
  readonly network: string;
  readonly signal: AbortSignal;
  /** The account, when its owner signed in before from this browser. */
  readonly knownAs?: string;
}

/**
 * Hashes passwords with scrypt. Each hash takes 128 MB and half a second of a core, so only a few are made at once, and the waiting ones
 * are served in turns by network: who sends many delays their own. People in a known browser wait in a queue of their own, in turns by
 * account, so a flood from many networks does not keep them out. The hash has its parameters and its salt in it.
 */
export class PasswordHashes {
  readonly #cost: Cost;
  readonly #gate: FairGate;
  readonly #gateOfKnown: FairGate;
  readonly #dummy: string;
  readonly #deriveNow: typeof derive;

  /** Only tests give another function. */
  constructor(costLog2: number, deriveNow: typeof derive = derive) {
    this.#deriveNow = deriveNow;
    this.#cost = { ln: costLog2, r: 8, p: 1 };
    this.#gate = gateOf(AUTH_LIMITS.passwordHashesAtOnceMax);
    this.#gateOfKnown = gateOf(AUTH_LIMITS.passwordHashesOfKnownAtOnceMax);
    this.#dummy = format(this.#cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  }

  async hash(password: string, sender: Sender): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    return format(this.#cost, salt, await this.#derive(password, salt, this.#cost, sender));
  }

  /**
   * Without a stored hash, and with one of a lower cost than new ones have, it does the same work as for a new one, so that its time does
   * not show whether an account exists.
   */
  async verify(password: string, stored: string | null, sender: Sender): Promise<boolean> {
    const { cost, salt, hash } = parse(stored ?? this.#dummy);
    const isSame = timingSafeEqual(await this.#derive(password, salt, cost, sender), hash);
    // The work is proportional to N * p, and N is a power of two.
    const missing = 2 ** (this.#cost.ln - cost.ln) - 1;
    if (missing >= 1) await this.#derive(password, salt, { ...cost, p: missing }, sender);
    return isSame && stored !== null;
  }

  /** Whether the hash was made with another cost. */
  isOutdated(stored: string): boolean {
    return !stored.startsWith(prefixOf(this.#cost));
  }

  #derive(password: string, salt: Buffer, { ln, r, p }: Cost, { network, signal, knownAs }: Sender): Promise<Buffer> {
    const N = 2 ** ln;
    const options = { N, r, p, maxmem: 128 * N * r * 2 };
    const gate = knownAs === undefined ? this.#gate : this.#gateOfKnown;
    return gate.run(knownAs ?? network, { signal }, () =>
      this.#deriveNow(normalizePassword(password), salt, HASH_BYTES, options),
    );
  }
}

function gateOf(slots: number): FairGate {
  return new FairGate({
    slots,
    slotsOfOneMax: 1,
    waitMs: AUTH_LIMITS.passwordHashWaitMs,
    waitingMax: AUTH_LIMITS.passwordHashesWaitingMax,
    refusal: 'Too many people sign in at this moment',
  });
}

function prefixOf({ ln, r, p }: Cost): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$`;
}

function format(cost: Cost, salt: Buffer, hash: Buffer): string {
  return `${prefixOf(cost)}${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

function parse(stored: string): { readonly cost: Cost; readonly salt: Buffer; readonly hash: Buffer } {
  const [, ln, r, p, salt, hash] = FORMAT.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('a stored password hash is malformed');
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}
