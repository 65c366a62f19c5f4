import { addressGuard, openResolver } from '@wts/service-kit/egress';
import { createLogger } from '@wts/service-kit/observe';
import { testAuthority, type TestAuthority } from '@wts/testkit';
import { randomBytes, randomUUID } from 'node:crypto';
import type { AttemptMetrics } from '../src/attempt/metrics.ts';
import { openSender } from '../src/attempt/send.ts';
import type { AttemptRequest, AttemptResult, SendAttempt } from '../src/domain/attempt.ts';

/** The real sender, with the loopback addresses open, and what it reported. */
export interface TestSender extends AsyncDisposable {
  readonly send: (url: string, request?: Partial<AttemptRequest>) => Promise<AttemptResult>;
  readonly sendRequest: SendAttempt;
  readonly connections: readonly string[];
  readonly blocked: readonly string[];
  readonly resolved: readonly string[];
  readonly openConnections: () => number;
}

interface TestSenderOptions {
  readonly authority: TestAuthority;
  readonly allowedCidrs?: readonly string[];
  readonly dnsServers?: readonly string[];
  /** Default: that of the service. */
  readonly deadlineMs?: number;
  readonly idleMax?: number;
  /** Instead of the lists of the test sender. */
  readonly metrics?: AttemptMetrics;
}

export const SECRET = randomBytes(32);
const LOOPBACK = ['127.0.0.0/8', '::1'];

export function testSender(options: TestSenderOptions): TestSender {
  const { authority, allowedCidrs = LOOPBACK, dnsServers = [], deadlineMs, idleMax } = options;
  const stack = new AsyncDisposableStack();
  const connections: string[] = [];
  const blocked: string[] = [];
  const resolved: string[] = [];
  const open = { count: 0 };
  const listing: AttemptMetrics = {
    connectionsOpen: (count) => {
      open.count = count;
    },
    addressBlocked: (where) => blocked.push(where),
    nameResolved: (outcome) => resolved.push(outcome),
    connectionUsed: (kind) => connections.push(kind),
    attemptEnded: () => undefined,
  };
  const metrics = options.metrics ?? listing;
  const send = openSender({
    guard: addressGuard(allowedCidrs),
    resolver: openResolver({ servers: dnsServers, metrics }),
    extraCaFile: authority.caFile,
    metrics,
    log: createLogger({ name: 'attempts', level: 'silent' }),
    stack,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(idleMax === undefined ? {} : { idleMax }),
  });
  return {
    send: (url, request = {}) => send({ url, ...someRequest(), ...request }),
    sendRequest: send,
    connections,
    blocked,
    resolved,
    openConnections: () => open.count,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

let shared: Promise<TestAuthority> | undefined;
const someRequest = (): Omit<AttemptRequest, 'url'> => ({
  eventId: randomUUID(),
  body: '{"a":1}',
  secrets: [SECRET],
  beginsAtMs: Date.now(),
});

/** One authority for all tests of a process, because keys take time to make. */
export const sharedAuthority = (): Promise<TestAuthority> => (shared ??= testAuthority());
