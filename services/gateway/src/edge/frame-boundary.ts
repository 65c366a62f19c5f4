/**
 * Follows a WebSocket byte stream just closely enough to know where frames end (RFC 6455 section 5.2). The gateway
 * never looks into a frame; it only must know when it may say a word of its own to the upstream.
 */
export class FrameBoundary {
  /** Exact below 2^53 bytes, far beyond the largest frame any upstream takes. */
  #payloadLeft = 0;
  readonly #head = new Uint8Array(14);
  #headLength = 0;

  /** True when the bytes so far end exactly at the end of a frame. */
  get reached(): boolean {
    return this.#payloadLeft === 0 && this.#headLength === 0;
  }

  /** Takes the next bytes and returns how many of them belong to frames that are complete. */
  feed(chunk: Uint8Array): number {
    let complete = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const step = Math.min(chunk.length - at, this.#payloadLeft);
        this.#payloadLeft -= step;
        at += step;
      } else {
        this.#head[this.#headLength] = chunk[at] as number;
        this.#headLength += 1;
        at += 1;
        this.#readHead();
      }
      if (this.reached) complete = at;
    }
    return complete;
  }

  #readHead(): void {
    if (this.#headLength < 2) return;
    const second = this.#head[1] as number;
    const short = second & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const maskBytes = (second & 0x80) === 0 ? 0 : 4;
    if (this.#headLength < 2 + lengthBytes + maskBytes) return;
    let payload = lengthBytes === 0 ? short : 0;
    for (let at = 2; at < 2 + lengthBytes; at += 1) payload = payload * 256 + (this.#head[at] as number);
    this.#headLength = 0;
    this.#payloadLeft = payload;
  }
}

/** A close frame as a client sends it. The mask is zero: it hides nothing and nothing needs hiding on this hop. */
export function closeFrame(code: number): Buffer {
  const frame = Buffer.alloc(8);
  frame[0] = 0x88;
  frame[1] = 0x80 | 2;
  frame.writeUInt16BE(code, 6);
  return frame;
}
