/** The part of a pino logger that is used here. */
export interface Logger {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

const SELDOM_MS = 10_000;

/**
 * For what may happen with each of hundreds of messages a second, as while two versions run side by side: a warning in ten seconds,
 * and the others as debug lines.
 */
export function seldomWarning(
  log: Logger,
  text: string,
  clock = (): number => performance.now(),
): (fields: object) => void {
  let silentUntilMs = -Infinity;
  return (fields) => {
    const nowMs = clock();
    if (nowMs < silentUntilMs) return log.debug(fields, text);
    silentUntilMs = nowMs + SELDOM_MS;
    log.warn(fields, text);
  };
}
