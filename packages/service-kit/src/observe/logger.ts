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

/** Field names whose values are never logged, at the top and one level down. `scrub` is the net below. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'credential',
  'password',
  'secret',
  'secrets',
  'token',
  'accessToken',
  'refreshToken',
  'apiKey',
  'databaseUrl',
  'natsUrl',
  'internalTokenSecret',
];
const SECRET_HEADERS = ['authorization', 'cookie', '["set-cookie"]', '["x-wts-principal"]', '["proxy-authorization"]'];

const paths = [
  ...SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
  ...SECRET_HEADERS.flatMap((header) => {
    const step = header.startsWith('[') ? header : `.${header}`;
    return [`headers${step}`, `*.headers${step}`];
  }),
];

/** A logger whose lines never hold a secret: known fields are cut by name, and each line is scrubbed by shape. */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '[redacted]' },
      serializers: { err: describeError },
      hooks: { streamWrite: scrub },
    },
    destination ?? pino.destination({ fd: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS }),
  );
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
