import type { ServerFrame, SubscribeFrame } from './wire.ts';

/** The used parts of a WebSocket of a browser, of Node, or of a library. */
export interface SocketLike {
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number }) => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  send(text: string): void;
  close(): void;
}

interface Bounds {
  /** Time until the first frame. */
  readonly connectMs: number;
  /** The server sends at least a watermark every 20 seconds: a longer silence is a lost connection. */
  readonly silenceMs: number;
  /** Buffered frames, in characters. */
  readonly bufferCharsMax: number;
  readonly signal: AbortSignal;
}

/**
 * Subscribes, and yields the frames until the connection ends. A WebSocket of a browser cannot be paused, so a reader that is slower
 * than the server loses the connection: it gets the frames in the buffer, and resumes by its cursor.
 */
export async function* receiveFrames(
  socket: SocketLike,
  subscribe: SubscribeFrame,
  { connectMs, silenceMs, bufferCharsMax, signal }: Bounds,
): AsyncGenerator<ServerFrame> {
  const texts: string[] = [];
  let bufferedChars = 0;
  let isFirst = true;
  let hasEnded = false;
  let wake = (): void => {};
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  socket.addEventListener('open', () => socket.send(JSON.stringify(subscribe)));
  socket.addEventListener('error', end);
  socket.addEventListener('close', end);
  socket.addEventListener('message', ({ data }) => {
    if (hasEnded || typeof data !== 'string') return;
    if (texts.length > 0 && bufferedChars + data.length > bufferCharsMax) {
      end();
      // At once, because the server sends on until then.
      return socket.close();
    }
    texts.push(data);
    bufferedChars += data.length;
    wake();
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    while (!signal.aborted) {
      const text = texts.shift();
      if (text !== undefined) {
        bufferedChars -= text.length;
        isFirst = false;
        yield JSON.parse(text) as ServerFrame;
      } else if (hasEnded) {
        return;
      } else {
        const timer = setTimeout(end, isFirst ? connectMs : silenceMs);
        await new Promise<void>((resolve) => (wake = resolve));
        clearTimeout(timer);
      }
    }
  } finally {
    signal.removeEventListener('abort', end);
    hasEnded = true;
    socket.close();
  }
}
