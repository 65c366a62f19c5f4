import { unsealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import { secretsInForce } from '../domain/secrets.ts';
import type { EndpointSettings } from '../store/lanes.ts';
import { ReadMode } from './read-mode.ts';
import type { Reading } from './reader.ts';

interface FreshSettingsOptions {
  readonly keys: SecretKeys;
  /** Settings are fresh for so long after they were read. */
  readonly ageMs: number;
  readonly wakes: string;
}

/** The settings of the endpoint of a lane: an attempt begins with settings that were read a moment ago. */
export class FreshSettings {
  readonly #ageMs: number;
  readonly #keys: SecretKeys;
  readonly #read = new ReadMode();
  #settings: EndpointSettings | null = null;
  /** The secrets that are in force, unsealed once for each reading. */
  #unsealed: { readonly from: EndpointSettings; readonly secrets: readonly Buffer[] } | null = null;
  #freshUntilMs = Number.NEGATIVE_INFINITY;
  #wakes: string;

  constructor({ keys, ageMs, wakes }: FreshSettingsOptions) {
    this.#keys = keys;
    this.#ageMs = ageMs;
    this.#wakes = wakes;
  }

  /** Null while the endpoint is not served. */
  get served(): EndpointSettings | null {
    return this.#settings;
  }

  /** How often the lane was woken, as of the newest reading. */
  get wakes(): string {
    return this.#wakes;
  }

  get isIdle(): boolean {
    return this.#read.isRead;
  }

  get isUnread(): boolean {
    return this.#read.isUnread;
  }

  /** Whether an attempt may begin with them. */
  get isFresh(): boolean {
    return this.#read.isRead && this.isYoung();
  }

  isYoung(forMs = 0): boolean {
    return performance.now() + forMs <= this.#freshUntilMs;
  }

  /** With new first attempts of a served endpoint, settings are read only before they are too old. */
  get needsReading(): boolean {
    return !this.#read.isRead || this.#settings === null || !this.isYoung(this.#ageMs / 2);
  }

  /** Whether that is more often than the newest reading has it. */
  isWokenSince(wakes: string): boolean {
    return BigInt(wakes) > BigInt(this.#wakes);
  }

  changed(): void {
    this.#read.changed();
  }

  beginReading(): void {
    this.#read.begin();
  }

  /** Returns whether the lane was woken since the reading before. */
  endReading({ readAtMs, settings }: Reading): boolean {
    this.#read.end();
    this.#settings = settings?.isServed === true ? settings : null;
    this.#freshUntilMs = readAtMs + this.#ageMs;
    const wakes = settings?.wakes ?? this.#wakes;
    const isWoken = this.isWokenSince(wakes);
    this.#wakes = wakes;
    return isWoken;
  }

  failReading(): void {
    this.#read.fail();
  }

  /** Throws when one cannot be unsealed, or when there is none. */
  secretsOf(settings: EndpointSettings): readonly Buffer[] {
    if (this.#unsealed?.from === settings) return this.#unsealed.secrets;
    const inForce = secretsInForce(settings.secrets, settings.clockMs + performance.now());
    const secrets = inForce.map((secret) => unsealSecret(this.#keys, settings.endpointId, secret));
    if (secrets.length === 0) throw new Error('the endpoint has no secret');
    this.#unsealed = { from: settings, secrets };
    return secrets;
  }
}
