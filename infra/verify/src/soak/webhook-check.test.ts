import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { CheckedEndpoint, Gap } from './endpoint-history.ts';
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
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
  return { endpoint: 'one', atMs, headers, body, answer: 204, endedMs: atMs, isReused: true, ...more };
}

const all = (): Arrival[] => events.map((event, index) => attempt(event, index * 10));
/** All events, and further attempts of the last one. */
const withLast = (...attempts: readonly [afterMs: number, changed?: Partial<Arrival>][]): Arrival[] => {
  const last = events.at(-1) as LoggedEvent;
  return [...all().slice(0, -1), ...attempts.map(([afterMs, changed]) => attempt(last, 1_000 + afterMs, changed))];
};

const known = (secret: Buffer, answeredMs = -Infinity): CheckedEndpoint['secrets'][number] => ({
  secret: `whsec_${secret.toString('base64')}`,
  requestedMs: answeredMs - 10,
  answeredMs,
});
const endpoint: CheckedEndpoint = {
  name: 'one',
  eventTypes: [],
  secrets: [known(key)],
  gaps: [
    {
      begins: { earliest: 0n, latest: 0n },
      ends: { earliest: 0n, latest: 0n },
      off: { fromMs: 0, toMs: BEGAN_MS - SECOND_MS },
    },
  ],
  isDeleted: false,
  isReplaced: false,
};

function check(arrivals: readonly Arrival[], changed: Partial<WebhookLogs> = {}): Promise<WebhookReport> {
  return checkWebhooks({ endpoints: [endpoint], arrivals, events, stepsMs: STEPS_MS, kills: [], ...changed });
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
    const endpoints = [{ ...endpoint, eventTypes: ['comment.created'] }];
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
  for (const [name, [guarantee, arrivals]] of Object.entries(faults))
    it(`finds ${name}`, async () => assert.deepEqual(await guarantees(arrivals()), [guarantee]));

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

  describe('of an endpoint that was changed', () => {
    const disabled = (changed: Partial<Gap> = {}): CheckedEndpoint => {
      const off = { fromMs: BEGAN_MS, toMs: BEGAN_MS + 60 * SECOND_MS };
      const gap: Gap = { begins: { earliest: 3n, latest: 3n }, ends: { earliest: 8n, latest: 8n }, off, ...changed };
      return { ...endpoint, gaps: [...endpoint.gaps, gap] };
    };
    const [one, two, , four] = all() as [Arrival, Arrival, Arrival, Arrival];
    const later = attempt(events[3]!, 61_000);

    it('expects no event from while it was disabled, and each one before and after', async () => {
      const endpoints = [disabled()];
      assert.deepEqual(await guarantees([one, later], { endpoints }), []);
      assert.deepEqual(await guarantees([one, two, later], { endpoints }), ['nothing-foreign']);
      assert.deepEqual(await guarantees([later], { endpoints }), ['nothing-missing']);
      assert.deepEqual(await guarantees([one], { endpoints }), ['nothing-missing']);
      const { changes } = await check([one, later], { endpoints });
      assert.deepEqual(changes, { rotated: 0, disabled: 1, deleted: 0 });
    });

    it('accepts an event, or none, where the cursor may have been', async () => {
      const endpoints = [disabled({ begins: { earliest: 3n, latest: 5n } })];
      assert.deepEqual(await guarantees([one, later], { endpoints }), []);
      assert.deepEqual(await guarantees([one, two, later], { endpoints }), []);
    });

    it('finds an attempt while it was disabled, unless the process was paused when it began', async () => {
      const endpoints = [disabled({ begins: { earliest: 8n, latest: 8n }, ends: { earliest: 8n, latest: 8n } })];
      const arrivals = [...all().slice(0, 3), attempt(events[3]!, 30_000)];
      assert.deepEqual(await guarantees(arrivals, { endpoints }), ['nothing-foreign']);
      const kills = [{ fromMs: BEGAN_MS - SECOND_MS, toMs: BEGAN_MS + 29 * SECOND_MS }];
      assert.deepEqual(await guarantees(arrivals, { endpoints, kills }), []);
    });

    it('expects every secret in force to sign, from when no earlier attempt can arrive', async () => {
      const [former, next] = [key, randomBytes(32)];
      const endpoints = [{ ...endpoint, secrets: [known(former), known(next, BEGAN_MS)] }];
      const signed = (event: LoggedEvent, afterMs: number, secrets: readonly Buffer[]): Arrival => {
        const attempts = secrets.map((secret) => attempt(event, afterMs, { secret }));
        const signature = attempts.map(({ headers }) => headers['webhook-signature']).join(' ');
        const [arrival] = attempts as [Arrival];
        return { ...arrival, headers: { ...arrival.headers, 'webhook-signature': signature } };
      };
      const [before, between] = [signed(first, -20, [former]), signed(second, 500, [former])];
      const both = [signed(third, 30_000, [next, former]), signed(events[3]!, 30_010, [next, former])];
      assert.deepEqual(await guarantees([before, between, ...both], { endpoints }), []);
      assert.deepEqual(await guarantees([before, signed(second, 500, [next, former]), ...both], { endpoints }), []);
      for (const secrets of [[former], [next], [next, former, former], [next, randomBytes(32)]]) {
        const wrong = [before, between, signed(third, 30_000, secrets), both[1]!];
        assert.ok((await guarantees(wrong, { endpoints })).includes('signature-verifies'));
      }
      assert.ok((await guarantees([signed(first, -20, [former, next]), between, ...both], { endpoints })).length > 0);
    });

    it('expects the first events of one that was deleted, without a hole, and no attempt after', async () => {
      const off = { fromMs: BEGAN_MS + 100, toMs: Infinity };
      const end = { earliest: 1n << 62n, latest: 1n << 62n };
      const gap: Gap = { begins: { earliest: 5n, latest: 8n }, ends: end, off };
      const endpoints = [{ ...endpoint, gaps: [...endpoint.gaps, gap], isDeleted: true }];
      assert.deepEqual(await guarantees([one], { endpoints }), []);
      assert.deepEqual(await guarantees([{ ...one, answer: 500 }], { endpoints }), []);
      assert.deepEqual(await guarantees([two], { endpoints }), ['nothing-missing']);
      assert.deepEqual(await guarantees([one, two, four], { endpoints }), ['nothing-foreign']);
      assert.deepEqual(await guarantees([one, attempt(second, 20_000)], { endpoints }), ['nothing-foreign']);
    });
  });
});
