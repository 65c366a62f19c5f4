import { SetupError } from './setup-error.ts';

/** One environment variable. `doc` is a sentence of the generated reference. */
export interface Setting<T> {
  readonly variable: string;
  readonly kind: string;
  readonly doc: string;
  readonly secret: boolean;
  readonly optional: boolean;
  readonly fallback: T | undefined;
  /** Throws an Error whose message completes "VARIABLE ...". */
  readonly read: (text: string) => T;
}

type AnySetting = Setting<unknown>;

/** The configuration of a set of settings. */
export type ConfigOf<S> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

interface Common {
  readonly doc: string;
  /** The value is never shown, neither in messages nor in the reference. */
  readonly secret?: boolean;
}
type Presence<T> = { readonly default?: T; readonly optional?: false } | { readonly optional: true };
type Options<T, Extra = object> = Common & Presence<T> & Extra;
/** Only optional settings may be undefined. */
type Read<T, O> = O extends { readonly optional: true } ? T | undefined : T;

/** All settings of a service. The keys become the fields of its configuration. */
export function defineSettings<S extends Readonly<Record<string, AnySetting>>>(settings: S): S {
  return settings;
}

/** All faults of the environment, as one message. */
export class ConfigError extends SetupError {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault${faults.length === 1 ? '' : 's'}:\n  - ${faults.join('\n  - ')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads all settings, or throws one ConfigError that names every fault. An empty variable counts as absent. */
export function parseSettings<S extends Readonly<Record<string, AnySetting>>>(
  settings: S,
  env: Environment,
): ConfigOf<S> {
  const config: Record<string, unknown> = {};
  const faults = new Set<string>();
  for (const [name, setting] of Object.entries(settings)) {
    const text = env[setting.variable];
    if (text === undefined || text.trim() === '') {
      if (setting.fallback !== undefined) config[name] = setting.fallback;
      else if (!setting.optional) faults.add(`${setting.variable} is missing: ${setting.doc}`);
      continue;
    }
    try {
      config[name] = setting.read(text.trim());
    } catch (fault) {
      faults.add(`${setting.variable} ${(fault as Error).message}`);
    }
  }
  if (faults.size > 0) throw new ConfigError([...faults]);
  return config as ConfigOf<S>;
}

interface SettingDescription {
  readonly variable: string;
  readonly kind: string;
  readonly doc: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** As text; absent for secrets and settings without a default. */
  readonly default?: string;
}

/** The settings as data, for the generated reference. */
export function describeSettings(settings: Readonly<Record<string, AnySetting>>): SettingDescription[] {
  return Object.values(settings).map(({ variable, kind, doc, optional, secret, fallback }) => ({
    variable,
    kind,
    doc,
    required: !optional && fallback === undefined,
    secret,
    ...(fallback === undefined || secret ? {} : { default: asText(fallback) }),
  }));
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function build<T, O extends Options<T>>(
  variable: string,
  kind: string,
  options: O,
  read: (text: string) => T,
): Setting<Read<T, O>> {
  const { doc, secret = false, optional = false } = options;
  const fallback = 'default' in options ? options.default : undefined;
  return { variable, kind, doc, secret, optional, fallback, read } as Setting<unknown> as Setting<Read<T, O>>;
}

interface Range {
  readonly min?: number;
  readonly max?: number;
}

function whole(text: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Range, unit = ''): number {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max)) throw new Error(`must be a whole number${unit} from ${min} to ${max}`);
  return value;
}

function address(text: string, protocols: readonly string[] = ['http', 'https']): string {
  const url = URL.parse(text);
  // Without the text, because it may contain a password.
  if (url === null) throw new Error('must be an absolute URL');
  if (!protocols.includes(url.protocol.slice(0, -1)))
    throw new Error(`must be a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`);
  return text;
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** What is wrong with a text, in the words of what reads it; for `refuse`. */
export function refusalOf(read: (text: string) => unknown): (text: string) => string | null {
  return (text) => {
    try {
      read(text);
      return null;
    } catch (fault) {
      return (fault as Error).message;
    }
  };
}

/** Kinds of settings. Lengths of `text` count characters. */
export const setting = {
  /** `refuse` returns the fault of a text, as the end of the sentence "VARIABLE ..."; null for none. */
  text: <const O extends Options<string, Range & { pattern?: RegExp; refuse?: (text: string) => string | null }>>(
    variable: string,
    options: O,
  ) =>
    build<string, O>(variable, 'text', options, (text) => {
      const { min = 1, max = 65_536, pattern, refuse } = options;
      if (text.length < min) throw new Error(`must have at least ${min} characters`);
      if (text.length > max) throw new Error(`must have at most ${max} characters`);
      if (pattern !== undefined && !pattern.test(text)) throw new Error(`must match ${pattern.source}`);
      const fault = refuse?.(text) ?? null;
      if (fault !== null) throw new Error(fault);
      return text;
    }),
  int: <const O extends Options<number, Range>>(variable: string, options: O) =>
    build<number, O>(variable, 'whole number', options, (text) => whole(text, options)),
  port: <const O extends Options<number>>(variable: string, options: O) =>
    build<number, O>(variable, 'port', options, (text) => whole(text, { min: 0, max: 65_535 })),
  durationMs: <const O extends Options<number, Range>>(variable: string, options: O) =>
    build<number, O>(variable, 'milliseconds', options, (text) => whole(text, options, ' of milliseconds')),
  flag: <const O extends Options<boolean>>(variable: string, options: O) =>
    build<boolean, O>(variable, 'on or off', options, (text) => {
      const value = { on: true, true: true, 1: true, off: false, false: false, 0: false }[text.toLowerCase()];
      if (value === undefined) throw new Error('must be on or off');
      return value;
    }),
  oneOf: <const V extends string, const O extends Options<V>>(variable: string, values: readonly V[], options: O) =>
    build<V, O>(variable, values.join(' | '), options, (text) => {
      const value = values.find((candidate) => candidate === text);
      if (value === undefined) throw new Error(`must be one of ${values.join(', ')}`);
      return value;
    }),
  /** `refuse` judges the text, as that of `text` does. */
  url: <const O extends Options<string, { protocols?: readonly string[]; refuse?: (text: string) => string | null }>>(
    variable: string,
    options: O,
  ) =>
    build<string, O>(variable, 'URL', options, (text) => {
      const url = address(text, options.protocols);
      const fault = options.refuse?.(url) ?? null;
      if (fault !== null) throw new Error(fault);
      return url;
    }),
  /** A comma-separated list of URLs, at least one. */
  urls: <const O extends Options<readonly string[], { protocols?: readonly string[] }>>(variable: string, options: O) =>
    build<readonly string[], O>(variable, 'URLs, comma-separated', options, (text) => {
      const urls = list(text).map((item) => address(item, options.protocols));
      if (urls.length === 0) throw new Error('must name at least one URL');
      return urls;
    }),
  /** A comma-separated list. `refuse` judges each text, as that of `text` does. */
  texts: <const O extends Options<readonly string[], { refuse?: (text: string) => string | null }>>(
    variable: string,
    options: O,
  ) =>
    build<readonly string[], O>(variable, 'texts, comma-separated', options, (text) => {
      const texts = list(text);
      const fault = texts.map((item) => options.refuse?.(item) ?? null).find((sentence) => sentence !== null);
      if (fault !== undefined) throw new Error(fault);
      return texts;
    }),
  /** `read` parses the text, and throws an Error with its fault. */
  json: <T, const O extends Options<T> = Options<T>>(
    variable: string,
    options: O & { readonly read: (text: string) => T },
  ) =>
    build<T, O>(variable, 'JSON', options, (text) => {
      try {
        return options.read(text);
      } catch (fault) {
        throw new Error(`is wrong: ${(fault as Error).message}`, { cause: fault });
      }
    }),
};
