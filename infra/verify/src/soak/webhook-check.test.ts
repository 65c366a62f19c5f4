import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import {
  checkWebhooks,
  type Arrival,
  type LoggedEvent,
  type WebhookLogs,
  type WebhookReport,
} from './webhook-check.ts';

const key = randomBytes(32);
const SECOND_MS = 1_000;
const BEGAN_MS = Date.parse('2026-11-21T09:00:00.000Z');
const STEPS_MS = [200, 500, 1_000, 1_000, 2_000, 2_000, 2_000];
/** Before each attempt of a delivery that always fails. */
const FAILING_MS = [0, 200, 700, 1_700, 2_700, 4_700, 6_700, 8_700];

const events: readonly LoggedEvent[] = [3, 5, 8, 13].map((position) => ({
  position: String(position),
  id: randomUUID(),
  type: position === 8 ? 'comment.created' : 'task.created',
}));
const [first, second, third] = events as [LoggedEvent, LoggedEvent, LoggedEvent];

/** An attempt that arrives so many milliseconds after the start. */
function attempt(event: LoggedEvent, afterMs: number, changed: Partial<Arrival & { secret: Buffer }> = {}): Arrival {
  const { id, type, position } = event;
  const atMs = BEGAN_MS + afterMs;
  const { body = JSON.stringify({ id, type, syncActionId: position, data: {} }), secret = key, ...more } = changed;
  const seconds = Math.floor(atMs / 1000);
  const signature = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
  return { endpoint: 'one', atMs, headers, body, answer: 204, endedMs: atMs, isReused: true, ...more };
}

const all = (): Arrival[] => events.map((event, index) => attempt(event, index * 10));
/** All events, and further attempts of the last one. */
const withLast = (...attempts: readonly [afterMs: number, changed?: Partial<Arrival>][]): Arrival[] => {
  const last = events.at(-1) as LoggedEvent;
  return [...all().slice(0, -1), ...attempts.map(([afterMs, changed]) => attempt(last, 1_000 + afterMs, changed))];
};

function check(arrivals: readonly Arrival[], changed: Partial<WebhookLogs> = {}): Promise<WebhookReport> {
  const endpoints = [{ name: 'one', secret: `whsec_${key.toString('base64')}`, eventTypes: [] }];
  return checkWebhooks({ endpoints, arrivals, events, stepsMs: STEPS_MS, kills: [], ...changed });
}

async function guarantees(arrivals: readonly Arrival[], changed: Partial<WebhookLogs> = {}): Promise<string[]> {
  return (await check(arrivals, changed)).findings.map(({ guarantee }) => guarantee);
}

const killAt = (afterMs: number): Pick<WebhookLogs, 'kills'> => ({
  kills: [{ fromMs: BEGAN_MS + afterMs, toMs: BEGAN_MS + afterMs + 500 }],
});
const failed = { answer: 500 } as const;

describe('the check of webhook deliveries', () => {
  it('passes deliveries in order, retries in time, and a last failure', async () => {
    assert.deepEqual(await guarantees(all()), []);
    const failing = withLast(...FAILING_MS.map((ms): [number, Partial<Arrival>] => [ms, failed]));
    const report = await check(failing);
    assert.deepEqual(report.findings, []);
    assert.deepEqual(
      [report.events, report.deliveries, report.attempts, report.retries, report.repeats],
      [4, 4, 11, 7, 0],
    );
  });

  it('checks only the types that an endpoint takes', async () => {
    const endpoints = [{ name: 'one', secret: `whsec_${key.toString('base64')}`, eventTypes: ['comment.created'] }];
    assert.deepEqual(await guarantees([attempt(third, 0)], { endpoints }), []);
    assert.deepEqual(await guarantees([attempt(first, 0), attempt(third, 1)], { endpoints }), ['nothing-foreign']);
  });

  const faults: Record<string, [guarantee: string, arrivals: () => readonly Arrival[]]> = {
    'an event that was never attempted': ['nothing-missing', () => all().toSpliced(1, 1)],
    'an event that was not attempted again': ['nothing-missing', () => withLast([0, failed])],
    'first attempts that descend': ['in-order', () => [1, 0, 2, 3].map((index, at) => attempt(events[index]!, at))],
    'a delivery that is no event of the log': [
      'nothing-foreign',
      () => [...all(), attempt({ position: '14', id: randomUUID(), type: 'task.created' }, 90)],
    ],
    'a request to an unknown endpoint': ['nothing-foreign', () => [...all(), attempt(second, 90, { endpoint: 'two' })]],
    'another event at a position': [
      'event-is-entry',
      () => all().with(1, attempt({ ...second, id: randomUUID() }, 10)),
    ],
    'another type of event': ['event-is-entry', () => all().with(1, attempt({ ...second, type: 'task.deleted' }, 10))],
    'other bytes on a retry': [
      'same-bytes',
      () => {
        const [one, two] = withLast([0, failed], [200]).slice(-2) as [Arrival, Arrival];
        const changed = attempt(events.at(-1) as LoggedEvent, 1_200, { body: `${two.body} ` });
        return [...all().slice(0, -1), one, changed];
      },
    ],
    'a signature with another secret': [
      'signature-verifies',
      () => [...all(), attempt(second, 90, { secret: randomBytes(32) })],
    ],
    'a body that was changed after it was signed': [
      'signature-verifies',
      () => [...all(), { ...attempt(second, 90), body: attempt(third, 90).body }],
    ],
    'an attempt that was signed an hour ago': [
      'signature-verifies',
      () => [...all(), { ...attempt(second, 90), atMs: BEGAN_MS + 3_600 * SECOND_MS }],
    ],
    'a first retry that is early': ['retry-schedule', () => withLast([0, failed], [150])],
    'a later retry that is early': ['retry-schedule', () => withLast([0, failed], [200, failed], [600])],
    'a retry during the attempt before': [
      'retry-schedule',
      () => withLast([0, { ...failed, endedMs: BEGAN_MS + 2_000 }], [900]),
    ],
    'a ninth attempt': [
      'attempts-end',
      () => withLast(...[...FAILING_MS, 30_000].map((ms): [number, Partial<Arrival>] => [ms, failed])),
    ],
    'a delivery that is repeated after its success': ['repeats-explained', () => withLast([0], [30_000])],
    'two requests again after one reset': [
      'retry-schedule',
      () => withLast([0, { answer: 'reset' }], [1, { answer: 'reset', isReused: false }], [2]),
    ],
    'a request again after a reset of a new connection': [
      'retry-schedule',
      () => withLast([0, { answer: 'reset', isReused: false }], [1, { isReused: false }]),
    ],
  };
  for (const [name, [guarantee, arrivals]] of Object.entries(faults)) {
    it(`finds ${name}`, async () => assert.deepEqual(await guarantees(arrivals()), [guarantee]));
  }

  it('finds that nothing was checked', async () => {
    assert.deepEqual(await guarantees([], { events: [] }), ['nothing-missing']);
  });

  it('counts what a kill explains, and only near that kill', async () => {
    const repeated = withLast([0], [30_000]);
    assert.equal((await check(repeated, killAt(1_500))).repeats, 1);
    assert.deepEqual(await guarantees(repeated, killAt(1_500)), []);
    // The outcome was recorded long before, and the kill came after the repeat.
    assert.deepEqual(await guarantees(repeated, killAt(20_000)), ['repeats-explained']);
    assert.deepEqual(await guarantees(repeated, killAt(40_000)), ['repeats-explained']);
    const early = withLast([0, failed], [50]);
    assert.deepEqual(await guarantees(early, killAt(1_020)), []);
    assert.deepEqual(await guarantees(early, killAt(2_000)), ['retry-schedule']);
  });

  it('allows the step of an attempt whose outcome a kill lost, and no more attempts than that', async () => {
    // The dispatcher knows nothing of the first attempt, so the third one is its second.
    const lost = withLast([0, failed], [700, failed], [900]);
    assert.deepEqual(await guarantees(lost, killAt(1_300)), []);
    assert.deepEqual(await guarantees(lost), ['retry-schedule']);
    const nine = withLast(...[...FAILING_MS, 30_000].map((ms): [number, Partial<Arrival>] => [ms, failed]));
    assert.deepEqual(await guarantees(nine, killAt(10_500)), []);
    const ten = [...nine, attempt(events.at(-1) as LoggedEvent, 60_000)];
    assert.deepEqual(await guarantees(ten, killAt(10_500)), ['attempts-end']);
  });

  it('allows one request again, at once, after a reset of a connection that was used before', async () => {
    const again = withLast([0, { answer: 'reset' }], [1, { ...failed, isReused: false }], [201]);
    const report = await check(again);
    assert.deepEqual(report.findings, []);
    assert.deepEqual([report.resends, report.retries], [1, 1]);
  });

  it('shows the first findings of a kind and counts the others', async () => {
    const many = Array.from({ length: 50 }, (_, index) => attempt(second, index, { secret: randomBytes(32) }));
    const { findings } = await check([...all(), ...many]);
    assert.equal(findings.length, 21);
    assert.match(findings.at(-1)?.seen ?? '', /30 more like these/);
  });
});
