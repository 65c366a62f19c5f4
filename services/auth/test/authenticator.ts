import { isoCBOR } from '@simplewebauthn/server/helpers';
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
  readonly user?: { readonly id: string };
}

/** What a test changes of an answer, to make it wrong. */
export interface Wrong {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly isVerified?: boolean;
  readonly userHandle?: string;
  readonly counter?: number;
  readonly key?: KeyObject;
  readonly format?: string;
}

const PRESENT = 1;
const VERIFIED = 4;
const HAS_CREDENTIAL = 64;

/** An authenticator with one passkey, as WebAuthn describes it. */
export class TestAuthenticator {
  readonly credentialId = randomBytes(32);
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  counter = 0;
  userHandle = '';
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The answer to `navigator.credentials.create`. */
  create(options: Options, wrong: Wrong = {}): string {
    this.userHandle = options.user?.id ?? '';
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const publicKey = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ]);
    const idLength = Buffer.alloc(2);
    idLength.writeUInt16BE(this.credentialId.length);
    const credential = [Buffer.alloc(16), idLength, this.credentialId, Buffer.from(isoCBOR.encode(publicKey))];
    const authData = Buffer.concat([this.#authData(options.rp?.id ?? '', HAS_CREDENTIAL, wrong), ...credential]);
    const attestation = new Map<string, string | Uint8Array | Map<string, Uint8Array[]>>([
      ['fmt', wrong.format ?? 'none'],
      ['attStmt', wrong.format === undefined ? new Map() : new Map([['x5c', [new Uint8Array(3)]]])],
      ['authData', new Uint8Array(authData)],
    ]);
    return this.#answer({
      clientDataJSON: this.#clientData('webauthn.create', options, wrong),
      attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The answer to `navigator.credentials.get`. */
  get(options: Options, wrong: Wrong = {}): string {
    this.counter += 1;
    const authData = this.#authData(options.rpId ?? '', 0, wrong);
    const clientDataJSON = this.#clientData('webauthn.get', options, wrong);
    const hash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signature = sign('sha256', Buffer.concat([authData, hash]), wrong.key ?? this.keys.privateKey);
    return this.#answer({
      clientDataJSON,
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: wrong.userHandle ?? this.userHandle,
    });
  }

  #answer(response: object): string {
    const id = this.credentialId.toString('base64url');
    return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} });
  }

  #authData(rpId: string, flags: number, wrong: Wrong): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(wrong.counter ?? this.counter);
    const verified = wrong.isVerified === false ? 0 : VERIFIED;
    const rpHash = createHash('sha256')
      .update(wrong.rpId ?? rpId)
      .digest();
    return Buffer.concat([rpHash, Buffer.from([PRESENT | verified | flags]), counter]);
  }

  #clientData(type: string, { challenge }: Options, wrong: Wrong): string {
    const data = {
      type: wrong.type ?? type,
      challenge: wrong.challenge ?? challenge,
      origin: wrong.origin ?? this.#origin,
      crossOrigin: false,
    };
    return Buffer.from(JSON.stringify(data)).toString('base64url');
  }
}
