import { parseSecretKeys, sealSecret, unsealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import type * as WebAuthn from '@simplewebauthn/server';
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';

/** What a passkey is asked for: a challenge of one use, one browser and one subject counts for no other. */
export interface ChallengeUse {
  readonly purpose: 'sign-in' | 'factor' | 'confirm' | 'add';
  readonly browserId: string;
  /** The id of the pending sign-in or of the session; empty where there is none. */
  readonly subject: string;
}

/** A challenge that is right, and when it expires in seconds since 1970. */
interface ReadChallenge {
  readonly hash: Buffer;
  readonly expiresAt: number;
}

export interface NewCredential {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly transports: readonly string[];
}

type KnownCredential = Pick<NewCredential, 'credentialId' | 'publicKey'>;

export interface Assertion extends ReadChallenge {
  readonly signCount: number;
  /** The account that the authenticator names; null when it names none. */
  readonly userHandle: string | null;
}

type Json = Readonly<Record<string, unknown>>;

/** EdDSA, ES256, RS256: what every authenticator has one of. */
const ALGORITHMS = [-8, -7, -257];
const NONCE_BYTES = 16;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
const EXPIRY_BYTES = 8;

/**
 * Passkeys (WebAuthn level 3) of one site. The challenge in a page is sealed by AUTH_SECRET_KEY with its end, its use and the browser, so
 * nothing is stored for a page that is opened; who uses one stores it, so that it is used once. No attestation is asked for, and none is
 * read: the library would fetch lists of revoked certificates from addresses that a certificate names (never.non-public-address).
 */
export class Passkeys {
  readonly #rpId: string;
  readonly #origin: string;
  readonly #name: string;
  readonly #keys: SecretKeys;

  constructor({ authUrl, secretKey, name }: { authUrl: string; secretKey: string; name: string }) {
    const { hostname, origin } = new URL(authUrl);
    this.#rpId = hostname;
    this.#origin = origin;
    this.#name = name;
    this.#keys = parseSecretKeys(secretKey);
  }

  /** WebAuthn needs a host with a name. */
  get arePossible(): boolean {
    return isIP(this.#rpId.replaceAll(/[[\]]/g, '')) === 0;
  }

  /** What the script of a page passes to `navigator.credentials.create`. `now` is in seconds since 1970. */
  creationOptions(
    use: ChallengeUse,
    now: number,
    account: {
      readonly id: string;
      readonly email: string;
      readonly name: string;
      readonly existing: readonly Buffer[];
    },
  ): Json {
    return {
      challenge: this.#challenge(use, now),
      rp: { id: this.#rpId, name: this.#name },
      user: { id: userHandleOf(account.id), name: account.email, displayName: account.name },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
      // The browser keeps it where it can, so that it signs in alone. A security key without space is a second factor all the same.
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      excludeCredentials: account.existing.map(descriptorOf),
      attestation: 'none',
    };
  }

  /** What the script passes to `navigator.credentials.get`. Without passkeys the authenticator shows those that it has. */
  requestOptions(use: ChallengeUse, now: number, passkeys: readonly KnownCredential[] = []): Json {
    return {
      challenge: this.#challenge(use, now),
      rpId: this.#rpId,
      allowCredentials: passkeys.map(({ credentialId }) => descriptorOf(credentialId)),
      userVerification: use.purpose === 'factor' ? 'preferred' : 'required',
    };
  }

  /** Null for an answer that is wrong in any way. */
  async readCreation(use: ChallengeUse, answer: string): Promise<(NewCredential & ReadChallenge) | null> {
    const { verifyRegistrationResponse } = await library();
    try {
      const response = JSON.parse(answer) as { response: { attestationObject: string } };
      const challenge = this.#readChallenge(use, response);
      if (challenge === null) return null;
      response.response.attestationObject = await withoutAttestation(response.response.attestationObject);
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: response as never,
        ...this.#expected(challenge.text),
        requireUserVerification: false,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      if (!verified) return null;
      const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
      return {
        ...challenge,
        credentialId: Buffer.from(id, 'base64url'),
        publicKey: Buffer.from(publicKey),
        signCount: counter,
        transports: TRANSPORTS.filter((one) => Array.isArray(transports) && transports.includes(one)),
      };
    } catch {
      // The library throws for everything that is wrong with an answer.
      return null;
    }
  }

  /** The passkey that an answer is of; null for an answer without one. */
  credentialIdOf(answer: string): Buffer | null {
    try {
      const { id } = JSON.parse(answer) as { id?: unknown };
      return typeof id === 'string' && id !== '' ? Buffer.from(id, 'base64url') : null;
    } catch {
      return null;
    }
  }

  /** Null for an answer that is wrong in any way. The caller compares the counter. */
  async readAssertion(
    use: ChallengeUse,
    answer: string,
    { credentialId, publicKey }: KnownCredential,
  ): Promise<Assertion | null> {
    const { verifyAuthenticationResponse } = await library();
    try {
      const response = JSON.parse(answer) as { response: { userHandle?: unknown } };
      const challenge = this.#readChallenge(use, response);
      if (challenge === null) return null;
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: response as never,
        ...this.#expected(challenge.text),
        requireUserVerification: use.purpose !== 'factor',
        // The store compares the counter in the statement that changes it, so here it is never too low.
        credential: { id: credentialId.toString('base64url'), publicKey: new Uint8Array(publicKey), counter: 0 },
      });
      if (!verified) return null;
      const { userHandle } = response.response;
      return {
        ...challenge,
        signCount: authenticationInfo.newCounter,
        userHandle: typeof userHandle === 'string' && userHandle !== '' ? userHandle : null,
      };
    } catch {
      return null;
    }
  }

  #expected(challenge: string): { expectedChallenge: string; expectedOrigin: string; expectedRPID: string } {
    return { expectedChallenge: challenge, expectedOrigin: this.#origin, expectedRPID: this.#rpId };
  }

  #challenge(use: ChallengeUse, now: number): string {
    const content = Buffer.concat([Buffer.alloc(EXPIRY_BYTES), randomBytes(NONCE_BYTES)]);
    content.writeDoubleBE(now + AUTH_LIMITS.passkeyChallengeMs / 1000);
    const { keyId, sealed } = sealSecret(this.#keys, nameOf(use), content);
    return Buffer.concat([Buffer.from(`${keyId}.`), sealed]).toString('base64url');
  }

  /** The challenge that the browser signed, when it is one of ours for this use. */
  #readChallenge(
    use: ChallengeUse,
    { response }: { readonly response: object },
  ): (ReadChallenge & { text: string }) | null {
    const { clientDataJSON } = response as { clientDataJSON: string };
    const { challenge: text } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as {
      challenge: string;
    };
    const bytes = Buffer.from(text, 'base64url');
    const dot = bytes.indexOf('.');
    if (dot === -1) return null;
    const stored = { keyId: bytes.toString('utf8', 0, dot), sealed: bytes.subarray(dot + 1) };
    const expiresAt = unsealSecret(this.#keys, nameOf(use), stored).readDoubleBE();
    return { text, hash: sha256('challenge', bytes.toString('base64url')), expiresAt };
  }
}

/** It takes 28 MB and 0.2 s to load, and many installations never use it. */
async function library(): Promise<typeof WebAuthn> {
  return import('@simplewebauthn/server');
}

/** The account as its authenticators know it: its id, which says nothing about the person. */
export function userHandleOf(accountId: string): string {
  return Buffer.from(accountId.replaceAll('-', ''), 'hex').toString('base64url');
}

function nameOf({ purpose, browserId, subject }: ChallengeUse): string {
  return `passkey ${purpose} ${sha256(browserId).toString('hex')} ${subject}`;
}

function descriptorOf(credentialId: Buffer): Json {
  return { type: 'public-key', id: credentialId.toString('base64url') };
}

/** The same key with the statement `none`, which is what browsers make of it as well. */
async function withoutAttestation(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoCBOR } = await import('@simplewebauthn/server/helpers');
  const authData = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url'))).get('authData');
  const statement = new Map<string, string>();
  const object = new Map<string, string | Uint8Array | Map<string, string>>([
    ['fmt', 'none'],
    ['attStmt', statement],
    ['authData', authData],
  ]);
  return Buffer.from(isoCBOR.encode(object)).toString('base64url');
}
