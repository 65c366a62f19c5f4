export {
  chunkAfter,
  chunkBytes,
  chunkOfMessage,
  chunksAfter,
  decodeChunk,
  encodeChunk,
  hasNoEntries,
  messageIdOf,
  setTrace,
  TRACE_HEADER,
  traceOf,
} from './chunk.ts';
export { consume, type ConsumeOptions } from './consume.ts';
export { STREAM_LIMITS } from './limits.ts';
export { encodeForServer, openPublisher, type Publisher } from './publisher.ts';
export { ensureStream, isJetStreamError } from './topology.ts';
export { WakeSignal, pause } from './wake-signal.ts';
