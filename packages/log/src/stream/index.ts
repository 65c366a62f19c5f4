export { chunkAfter, chunkBytes, chunksAfter, decodeChunk, encodeChunk, hasNoEntries, messageIdOf } from './chunk.ts';
export { consume } from './consume.ts';
export type { ConsumeOptions } from './consume.ts';
export { STREAM_LIMITS } from './limits.ts';
export { encodeForServer, openPublisher } from './publisher.ts';
export type { Publisher } from './publisher.ts';
export { ensureStream, isJetStreamError } from './topology.ts';
export { WakeSignal, pause } from './wake-signal.ts';
