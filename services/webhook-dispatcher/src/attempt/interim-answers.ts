import { EgressFailure } from '@wts/service-kit/egress';
import type { Socket } from 'node:net';

/** Of all answers. The parser of undici also accepts HTTP/0.9 and HTTP/2.0, which no server can answer with on this connection. */
const VERSIONS = ['HTTP/1.1', 'HTTP/1.0'];
const INTERIM_BEGINNING = 'HTTP/1.1 1';
/** A status of three digits, and not 101. */
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d[ \r]/;
/** As many characters as `INTERIM` matches. */
const INTERIM_CHARACTERS = 13;
const HEAD_END = '\r\n\r\n';
const LINE_END_BYTES = [0x0d, 0x0a];
/** As many bytes as one head may have. */
const HELD_BYTES_MAX = 16_384;
/**
 * Of one answer with all that comes before and around it: heads and bodies have limits of their own, but interim answers,
 * empty lines before a status line, its text and the frames of chunks would keep the process busy until the deadline.
 */
const ANSWER_BYTES_MAX = 262_144;
const NOTHING = Buffer.alloc(0);

/**
 * Leaves interim answers (1xx) out of what undici reads from a socket. A server may send them unasked
 * (RFC 9110, 15.2), but undici closes the connection at `100 Continue`. `101` is left in: the protocol does not change here,
 * so undici refuses it. Ends a socket whose answer has another version, or far more bytes than an answer. A socket carries
 * one request at a time, and its answer can begin only after the request is written.
 */
export function leaveOutInterimAnswers<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...parameters: unknown[]) => boolean;
  let isHeadAwaited = false;
  let held: Buffer = NOTHING;
  let answerBytes = 0;

  const refuse = (detail: string): null => {
    socket.destroy(new EgressFailure('invalid_response', detail));
    return null;
  };

  /** What undici is to read of `held`; null while that is undecided. */
  const rest = (): Buffer | null => {
    for (;;) {
      held = withoutEmptyLines(held);
      const beginning = held.toString('latin1', 0, INTERIM_CHARACTERS);
      if (!VERSIONS.some((version) => isBeginning(beginning, version))) return refuse('an answer that is not HTTP/1');
      if (!INTERIM.test(beginning)) {
        if (beginning.length < INTERIM_CHARACTERS && isBeginning(beginning, INTERIM_BEGINNING)) return null;
        break;
      }
      const end = held.indexOf(HEAD_END);
      if (end < 0 && held.length < HELD_BYTES_MAX) return null;
      if (end < 0) break;
      held = held.subarray(end + HEAD_END.length);
    }
    isHeadAwaited = false;
    const chunk = held;
    held = NOTHING;
    return chunk;
  };

  socket.write = (...parameters: unknown[]) => {
    isHeadAwaited = true;
    answerBytes = 0;
    return write(...parameters);
  };
  socket.read = (size?: number) => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      answerBytes += chunk?.length ?? 0;
      if (answerBytes > ANSWER_BYTES_MAX) return refuse('an answer without end');
      if (!isHeadAwaited || chunk === null) return chunk;
      held = Buffer.concat([held, chunk]);
      const answer = rest();
      if (answer !== null) return answer;
    }
  };
  return socket;
}

function isBeginning(text: string, of: string): boolean {
  return of.startsWith(text.slice(0, of.length));
}

/** A server may send empty lines before a status line, and the parser of undici skips them. */
function withoutEmptyLines(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => !LINE_END_BYTES.includes(byte));
  return start < 0 ? NOTHING : bytes.subarray(start);
}
