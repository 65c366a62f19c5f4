import { pino } from 'pino';
import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { scrub } from './scrub.ts';

/**
 * JSON lines, one per request and one per thing an operator should know. `error` means that somebody must act now,
 * `warn` that something got worse and the service copes, `info` what happened, `debug` how.
 */
export type Logger = PinoLogger;

interface LoggerOptions {
  readonly name: string;
  readonly level?: string;
  /** Where lines go; standard output when left out. Tests give their own. */
  readonly destination?: DestinationStream;
}

/** Lines wait this long at most before they are written; a crash flushes them. */
const FLUSH_MS = 100;
const BUFFER_BYTES = 4096;

/** Names of fields whose values are never logged, in lower case without `-` and `_`. `scrub` is the net below. */
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
/** Objects nested deeper than this in a line of log are data nobody reads; they are cut off. */
const DEPTH_MAX = 4;

/**
 * A logger whose lines never hold a secret: known fields are cut by name, and each line is scrubbed by shape.
 * Keeps never.secret-in-clear.
 */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  const logger = pino(
    {
      level,
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => censor(fields, 0),
      },
      serializers: { err: describeError },
      hooks: { streamWrite: scrub },
    },
    destination ?? pino.destination({ fd: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS }),
  );
  censorChildren(logger as unknown as Parent);
  return logger;
}

/**
 * The fields of a line without the values of secrets. Written by hand because pino's own redaction costs ten times the
 * rest of a line. Nothing is copied while nothing is found.
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
  let known = secretByName.get(name);
  if (known === undefined) {
    known = SECRET_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
    // Names come from our code; a log of foreign keys must not grow this for ever.
    if (secretByName.size < 1000) secretByName.set(name, known);
  }
  return known;
}

interface Parent {
  child: (this: Parent, fields: Record<string, unknown>, options?: unknown) => Parent;
}

/** pino does not put the fields of a child through `formatters`. Children inherit the method that is set here. */
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
 * An error for the log. Only these fields: drivers hang queries, parameters, sockets and whole requests on their errors.
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, MESSAGE_CHARS_MAX) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message.slice(0, MESSAGE_CHARS_MAX),
    ...(typeof code === 'string' ? { code } : {}),
    ...(depth === 0 && error.stack !== undefined ? { stack: error.stack } : {}),
    ...(error.cause === undefined || depth >= CAUSES_MAX ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}
