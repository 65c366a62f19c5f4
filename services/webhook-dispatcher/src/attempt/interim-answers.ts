import type { Socket } from 'node:net';
import { AttemptFailure } from './failure.ts';

const BEGINNING = 'HTTP/1.1 1';
const HEAD_END = '\r\n\r\n';
/** As many bytes as one head may have. */
const HELD_BYTES_MAX = 16_384;
/**
 * Of one answer with all that comes before and around it: heads and bodies have limits of their own, but interim answers,
 * empty lines before a status line, its text and the frames of chunks would keep the process busy until the deadline.
 */
const ANSWER_BYTES_MAX = 262_144;

/**
 * Leaves interim answers (1xx) out of what undici reads from a socket. A server may send them without having been asked
 * (RFC 9110, 15.2), but undici closes the connection at `100 Continue`. `101` stays: the protocol does not change here, so
 * it is a fault. Ends a socket that brings far more than an answer. A socket carries one request at a time, and writing it is what an answer can begin after.
 */
export function leaveOutInterimAnswers<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...parameters: unknown[]) => boolean;
  let isHeadAwaited = false;
  let held: Buffer | null = null;
  let answerBytes = 0;

  const rest = (): Buffer | null => {
    while (held !== null) {
      const beginning = held.toString('latin1', 0, BEGINNING.length + 2);
      if (!BEGINNING.startsWith(beginning.slice(0, BEGINNING.length)) || beginning.endsWith('01')) break;
      const end = held.indexOf(HEAD_END);
      if (end < 0 && held.length < HELD_BYTES_MAX) return null;
      if (end < 0) break;
      held = end + HEAD_END.length === held.length ? null : held.subarray(end + HEAD_END.length);
    }
    if (held === null) return null;
    isHeadAwaited = false;
    const chunk = held;
    held = null;
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
      if (answerBytes > ANSWER_BYTES_MAX) {
        socket.destroy(new AttemptFailure('invalid_response', 'an answer without end'));
        return null;
      }
      if (!isHeadAwaited || chunk === null) return chunk;
      held = held === null ? chunk : Buffer.concat([held, chunk]);
      const answer = rest();
      if (answer !== null) return answer;
    }
  };
  return socket;
}
