export { Bell, pause } from './bell.ts';
export { chunkAfter, chunkBytes, chunksAfter, decodeChunk, encodeChunk, isHollow, messageIdOf } from './chunk.ts';
export { consume } from './consume.ts';
export type { ConsumeOptions, LogHead, LogPart } from './consume.ts';
export type { Logger } from './logger.ts';
export { encodeWithin, openPublisher } from './publisher.ts';
export type { Publisher } from './publisher.ts';
export { ensureStream, isJetStreamError } from './topology.ts';
