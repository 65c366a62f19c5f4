import { LIMITS } from '@wts/contracts';
import { SYNC_LIMITS } from '../limits.ts';

/** A delta frame ready to be written to any number of sockets. Keeps sync.socket.delta. */
export interface Packet {
  readonly frame: Buffer;
  /** The cursor of a client that has received it: no later packet has an entry at or below this position. */
  readonly last: bigint;
  readonly count: number;
}

/** One length byte, two, or eight: RFC 6455, section 5.2. */
const LENGTH_7_BITS = 125;
const LENGTH_16_BITS = 0xffff;

/**
 * A whole text message as a server sends it: final, unmasked, uncompressed. Built here and not by the WebSocket library, so
 * that many sockets share one buffer.
 */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const header = headerBytes(length);
  const frame = Buffer.allocUnsafe(header + length);
  writeHeader(frame, length);
  frame.write(text, header);
  return frame;
}

export function frameHeader(length: number): Buffer {
  const header = Buffer.alloc(headerBytes(length));
  writeHeader(header, length);
  return header;
}

function headerBytes(length: number): number {
  return length <= LENGTH_7_BITS ? 2 : length <= LENGTH_16_BITS ? 4 : 10;
}

function writeHeader(frame: Buffer, length: number): void {
  frame[0] = 0x81;
  if (length <= LENGTH_7_BITS) {
    frame[1] = length;
  } else if (length <= LENGTH_16_BITS) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
}

/** An empty packet, which advances the cursor of a client without news. */
export function watermark(last: bigint): Packet {
  return packetOf([], last);
}

function packetOf(texts: readonly string[], last: bigint): Packet {
  const text = `{"type":"delta","packet":{"lastSyncId":"${last}","actions":[${texts.join(',')}]}}`;
  return { frame: textFrame(text), last, count: texts.length };
}

/**
 * Packets that are built on demand and kept, so that all sockets with the same content share them, and none is built that no
 * socket takes.
 */
export class Packets implements Iterable<Packet> {
  readonly #made: Packet[] = [];
  readonly #source: Iterator<Packet>;

  constructor(source: Iterable<Packet>) {
    this.#source = source[Symbol.iterator]();
  }

  /** Those built so far. */
  get made(): readonly Packet[] {
    return this.#made;
  }

  *[Symbol.iterator](): Iterator<Packet> {
    for (let at = 0; ; at += 1) {
      let packet = this.#made[at];
      if (packet === undefined) {
        const next = this.#source.next();
        if (next.done === true) return;
        this.#made.push((packet = next.value));
      }
      yield packet;
    }
  }
}

/** Gathers entries, in ascending order, into packets of bounded size. */
export class PacketWriter {
  #packets: Packet[] = [];
  #texts: string[] = [];
  #bytes = 0;
  #last = 0n;

  add(id: bigint, text: string): void {
    const bytes = Buffer.byteLength(text);
    const full =
      this.#texts.length >= LIMITS.socketPacketActionsMax || this.#bytes + bytes > SYNC_LIMITS.socketPacketBytesMax;
    if (full && this.#texts.length > 0) this.#close(this.#last);
    this.#texts.push(text);
    this.#bytes += bytes;
    this.#last = id;
  }

  /** Returns the packets that have become full since the last call. */
  full(): Packet[] {
    const packets = this.#packets;
    if (packets.length > 0) this.#packets = [];
    return packets;
  }

  /** Returns the remaining packets. The last one carries `upTo`, because all entries up to it have been checked. */
  finish(upTo: bigint): Packet[] {
    if (this.#texts.length > 0) this.#close(upTo);
    return this.#packets;
  }

  #close(last: bigint): void {
    this.#packets.push(packetOf(this.#texts, last));
    this.#texts = [];
    this.#bytes = 0;
  }
}
