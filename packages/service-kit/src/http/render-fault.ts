import { STATUS_CODES } from 'node:http';
import { errorBody, type Fault } from '@wts/contracts';

export interface RenderedFault {
  readonly status: number;
  readonly body: Buffer;
  /** Header lines in the flat form Node writes: name, value, name, value. */
  readonly lines: string[];
}

/** Renders a fault, for the gateway and the services. Keeps never.shapeless-error. */
export function renderFault(fault: Fault, requestId: string): RenderedFault {
  const body = Buffer.from(JSON.stringify(errorBody(fault, requestId)));
  const lines = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
  // A cache may store some error statuses by default, and the next request may succeed.
  lines.push('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(fault.headers)) lines.push(name, value);
  if (fault.retryAfterSeconds !== undefined) lines.push('Retry-After', String(fault.retryAfterSeconds));
  return { status: fault.status, body, lines };
}

/** The head of a reply without a response object. Values are constants or from Node's parser, so they have no CR or LF. */
export function responseHead(status: number, ...groups: readonly (readonly string[])[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (const lines of groups) {
    for (let at = 0; at + 1 < lines.length; at += 2) head += `${lines[at]}: ${lines[at + 1]}\r\n`;
  }
  return `${head}\r\n`;
}
