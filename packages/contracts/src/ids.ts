/** Identifiers that cross a process boundary, each with its parser. */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type Uuid = string;

/** A position in the log: a decimal string on the wire, compared as a bigint, never as text or a double. */
export type SyncId = Branded<'SyncId'>;

export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
export const SYNC_ID_PATTERN = '^[0-9]{1,19}$';
export const REQUEST_ID_PATTERN = '^[A-Za-z0-9._-]{1,128}$';

/** The urlKey of a workspace: no word is reserved, because no path of the API contains one. */
export const URL_KEY_PATTERN = '^[a-z0-9-]+$';
export const NOT_BLANK_PATTERN = '\\S';
export const PROJECT_KEY = {
  min: 1,
  max: 32,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$',
  words: 'must be 1 to 32 characters A-Z, a-z, 0-9, - and _, the first a letter or a digit',
} as const;
/** A key that the caller of a tool chooses. */
export const CALL_KEY_PATTERN = '^[!-~]+$';
/** A number in a query: of any size, because it is clamped. */
export const COUNT_PATTERN = '^[0-9]{1,64}$';

/** A place in the security record: the time of an event and its id. */
export const EVENT_PLACE_PATTERN = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z_[0-9a-f-]{36}$';

/** Each pattern in words, for error messages. */
const WORDS: ReadonlyMap<string, string> = new Map([
  [UUID_PATTERN, 'must be a UUID'],
  [SYNC_ID_PATTERN, 'must be a whole number in 1 to 19 digits, as text'],
  [URL_KEY_PATTERN, 'must be lowercase letters, digits and hyphens'],
  [NOT_BLANK_PATTERN, 'must not be blank'],
  [PROJECT_KEY.pattern, PROJECT_KEY.words],
  [CALL_KEY_PATTERN, 'must be characters of ASCII without spaces'],
  [EVENT_PLACE_PATTERN, 'must be the `next` of an earlier answer'],
  [COUNT_PATTERN, 'must be a whole number in 1 to 64 digits'],
]);

export function wordsOf(pattern: string): string | undefined {
  return WORDS.get(pattern);
}

const uuid = new RegExp(UUID_PATTERN);
const syncId = new RegExp(SYNC_ID_PATTERN);
const SYNC_ID_MAX = 9_223_372_036_854_775_807n;

export function isUuid(text: unknown): text is Uuid {
  return typeof text === 'string' && uuid.test(text);
}

/** An id that follows from a digest of a name, in hexadecimal digits: a UUID of version 8 (RFC 9562). */
export function uuidOfDigest(hex: string): Uuid {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Null when the text is no sync id: signs, exponents, blanks, numbers and values above a signed 64-bit integer. */
export function parseSyncId(text: unknown): bigint | null {
  if (typeof text !== 'string' || !syncId.test(text)) return null;
  const value = BigInt(text);
  return value <= SYNC_ID_MAX ? value : null;
}

export function formatSyncId(value: bigint): SyncId {
  return value.toString() as SyncId;
}
