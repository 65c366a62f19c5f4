/** Bounds of chunks, which every process that follows the log shares, each with its reason. */
export const STREAM_LIMITS = {
  /** Recent chunks in memory per replica of sync, in bytes of heap. */
  ringBytesMax: 64 * 1024 * 1024,
  ringAgeMs: 60_000,
  /** One JetStream message; a quarter of the server's default payload bound of 1 MB. */
  chunkBytesMax: 256 * 1024,
} as const;
