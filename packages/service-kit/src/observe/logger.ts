import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { scrub } from './scrub.ts';
import { traceFields } from './tracing.ts';

/**
 * JSON lines, one per request and one per event for an operator. `error`: an operator must act now. `warn`: something got worse and
 * the service still works. `info`: what happened. `debug`: how.
 */
export type Logger = PinoLogger;

interface LoggerOptions {
  readonly name: string;
  readonly level?: string;
  /** Where lines are written; by default standard output. */
  readonly destination?: DestinationStream;
}

/** Lines are buffered this long at most; a crash writes them. */
const FLUSH_MS = 100;
const BUFFER_BYTES = 4096;

/** Names of fields whose values are never logged, in lower case without `-` and `_`. `scrub` finds others by shape. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xwtsprincipal',
  'password',
  'pass',
  'secret',
  'secrets',
  'clientsecret',
  'internaltokensecret',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'apikey',
  'codeverifier',
  'databaseurl',
  'natsurl',
]);
const CENSORED = '[redacted]';
/** Objects nested deeper than this are left out of a line. */
const DEPTH_MAX = 4;

/**
 * A logger whose lines never hold a secret: fields are censored by name, and each line is scrubbed by shape.
 * Keeps never.secret-in-clear.
 */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  const { stream, onLine } = destination === undefined ? standardOutput() : { stream: destination, onLine: undefined };
  const logger = pino(
    {
      level,
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => censor(fields, 0) },
      // A new object for each line, because pino adds the fields of the line to it.
      mixin: () => traceFields(),
      serializers: { err: describeError },
      hooks: {
        streamWrite: (line) => {
          onLine?.();
          return scrub(line);
        },
      },
    },
    stream,
  );
  censorChildren(logger as unknown as Parent);
  return logger;
}

/** Standard output with a buffer, which is written when it is full and FLUSH_MS after a line; an idle process has no timer. */
function standardOutput(): { readonly stream: DestinationStream; readonly onLine: () => void } {
  const stream = pino.destination({ fd: 1, sync: false, minLength: BUFFER_BYTES });
  let flushing: NodeJS.Timeout | undefined;
  const flush = (): void => {
    flushing = undefined;
    stream.flush();
  };
  return { stream, onLine: () => (flushing ??= setTimeout(flush, FLUSH_MS).unref()) };
}

/**
 * The fields of a line without the values of secrets. Not pino's own redaction, which takes ten times as long as the rest of a
 * line. Fields are copied only when they have a secret.
 */
function censor(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const safe = isSecret(name) && value !== undefined ? CENSORED : censorValue(value, depth);
    if (safe === value) continue;
    copy ??= { ...fields };
    copy[name] = safe;
  }
  return copy ?? fields;
}

function censorValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (depth >= DEPTH_MAX) return '[deep]';
  if (ArrayBuffer.isView(value)) return '[bytes]';
  if (Array.isArray(value)) {
    const safe = value.map((item: unknown) => censorValue(item, depth + 1));
    return safe.some((item, at) => item !== value[at]) ? safe : value;
  }
  return censor(value as Record<string, unknown>, depth + 1);
}

const secretByName = new Map<string, boolean>();

function isSecret(name: string): boolean {
  let isKnownSecret = secretByName.get(name);
  if (isKnownSecret === undefined) {
    isKnownSecret = SECRET_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
    // Bounded, in case the keys of foreign data are logged.
    if (secretByName.size < 1000) secretByName.set(name, isKnownSecret);
  }
  return isKnownSecret;
}

interface Parent {
  child: (this: Parent, fields: Record<string, unknown>, options?: unknown) => Parent;
}

/** pino does not apply `formatters` to the fields of a child. Children inherit the method that is set here. */
function censorChildren(parent: Parent): void {
  const { child } = parent;
  parent.child = function censored(fields, options) {
    return child.call(this, censor(fields, 0), options);
  };
}

interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

const CAUSES_MAX = 4;
const MESSAGE_CHARS_MAX = 1000;
/**
 * An error for the log, with these fields only: drivers add queries, parameters, sockets and whole requests to their errors. Keeps
 * content of records out of the log where a message quotes it.
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, MESSAGE_CHARS_MAX) };
  const { code } = error as { code?: unknown };
  const message = withoutQuotes(error.message);
  return {
    type: error.name,
    message: message.slice(0, MESSAGE_CHARS_MAX),
    ...(typeof code === 'string' ? { code } : {}),
    ...(depth === 0 && error.stack !== undefined ? { stack: error.stack.replace(error.message, () => message) } : {}),
    ...(error.cause === undefined || depth >= CAUSES_MAX ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}

/** The engine of JSON and the client of NATS quote what they cannot read. */
function withoutQuotes(message: string): string {
  const notJson = message.lastIndexOf(' is not valid JSON');
  const quote = message.indexOf('"');
  if (quote >= 0 && quote < notJson) return `${message.slice(0, quote)}what was received${message.slice(notJson)}`;
  const ofNats = message.indexOf('parse error [');
  return ofNats < 0 ? message : message.slice(0, message.indexOf(':', ofNats));
}
