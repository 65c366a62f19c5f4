import { rows } from '@wts/service-kit/postgres';
import { eventually, testAuthority } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MailQueue } from '../../test/mail-queue.ts';
import { openBrokenServer, openMailServer, refusal, STEPS } from '../../test/mail-server.ts';
import { openTestStore, type TestStore } from '../../test/store.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { mailStore } from '../store/mails.ts';
import { retryAfterMsOf } from './send-mails.ts';

const STEP_MS = 300;

describe('outgoing mails', () => {
  let store: TestStore;
  let queue: MailQueue;
  before(async () => {
    store = await openTestStore('mails');
    queue = new MailQueue(store.knex);
  });
  after(() => store[Symbol.asyncDispose]());
  afterEach(() => rows(store.knex, `delete from auth.mails`));

  const someone = (): string => `${randomUUID()}@example.com`;
  const until = (to: string, state: string, attempts?: number): Promise<unknown> =>
    eventually(async () => {
      const row = await queue.of(to);
      return (row.state === state && (attempts === undefined || row.attempts === attempts)) || undefined;
    });

  it('are sent as text and HTML with one recipient, and nothing of them is stored in clear or afterward [authentication.mail.queue, never.secret-in-clear]', async () => {
    await using server = await openMailServer();
    const to = someone();
    await queue.add(to);
    const stored = JSON.stringify(await rows(store.knex, `select m::text from auth.mails m`));
    assert.ok(!stored.includes('wtsm_') && !stored.includes('link?token'));
    await using _sender = queue.sender(`smtp://127.0.0.1:${server.port}`);
    await until(to, 'sent');
    assert.equal((await queue.of(to)).hasContent, false);
    assert.equal(server.taken.length, 1);
    const { raw } = server.taken[0]!;
    for (const part of [
      /^From: Tasks <tasks@example\.com>/m,
      /^Message-ID: <[0-9a-f-]{36}@example\.com>/m,
      /text\/plain/,
      /text\/html/,
      /^Auto-Submitted: auto-generated/m,
    ])
      assert.match(raw, part);
    assert.ok(!queue.lines.join('').includes('wtsm_') && !queue.lines.join('').includes(to));
  });

  it('are each sent once by two replicas, however many wait [authentication.mail.queue]', async () => {
    await using server = await openMailServer();
    const people = Array.from({ length: 12 }, someone);
    for (const to of people) await queue.add(to);
    const url = `smtp://127.0.0.1:${server.port}`;
    await using _first = queue.sender(url);
    await using _second = queue.sender(url);
    for (const to of people) await until(to, 'sent');
    assert.deepEqual(server.taken.map(({ to }) => to).toSorted(), people.toSorted());
  });

  it('wait when the server hangs or disconnects at any step, and are sent later with the same Message-ID [authentication.mail.queue]', async () => {
    for (const fault of ['hangs', 'drops'] as const) {
      for (const step of STEPS) {
        const to = someone();
        await queue.add(to);
        const seen: string[] = [];
        {
          await using broken = await openBrokenServer(step, fault);
          await using _sender = queue.sender(`smtp://127.0.0.1:${broken.port}`, { stepMs: STEP_MS });
          await eventually(async () => (await queue.of(to)).reason !== null || undefined);
          seen.push(...broken.taken.map(({ raw }) => raw));
        }
        const { state, reason, hasContent } = await queue.of(to);
        assert.deepEqual([state, hasContent], ['waiting', true], `${step} ${fault}`);
        assert.match(reason ?? '', /mail server/);
        await using server = await openMailServer();
        await queue.age(to, 0);
        await using _later = queue.sender(`smtp://127.0.0.1:${server.port}`);
        await until(to, 'sent');
        seen.push(...server.taken.map(({ raw }) => raw));
        const ids = seen.map((raw) => /^Message-ID: (\S+)/m.exec(raw)?.[1]);
        assert.deepEqual([ids.length, new Set(ids).size], [step === '.' ? 2 : 1, 1], `${step} ${fault}`);
      }
    }
  });

  it('to others are sent while the server hangs at some, and these end by a deadline', async () => {
    const held = new Set<() => void>();
    await using server = await openMailServer({
      onRcptTo: ({ address }, _session, callback) =>
        void (address.startsWith('slow') ? held.add(callback) : callback()),
    });
    const slow = Array.from({ length: AUTH_LIMITS.mailsAtOnceMax - 1 }, () => `slow-${someone()}`);
    for (const to of slow) await queue.add(to);
    const quick = Array.from({ length: 5 }, someone);
    for (const to of quick) await queue.add(to);
    await using _sender = queue.sender(`smtp://127.0.0.1:${server.port}`, { stepMs: 3_000 });
    for (const to of quick) await until(to, 'sent');
    for (const to of slow) assert.deepEqual(await queue.of(to).then(({ reason }) => reason), null, 'it still hangs');
    for (const to of slow) await eventually(async () => (await queue.of(to)).reason !== null || undefined);
    for (const release of held) release();
  });

  it('are tried again after a refusal for now, and end with the reason and an event after one for good [authentication.mail.queue]', async () => {
    const answers = new Map<string, Error>();
    await using server = await openMailServer({
      onRcptTo: ({ address }, _session, callback) => callback(answers.get(address) ?? null),
    });
    const [later, gone] = [someone(), someone()];
    answers.set(later, refusal(451, 'try later')).set(gone, refusal(550, 'no such mailbox'));
    for (const to of [later, gone]) await queue.add(to);
    await using _sender = queue.sender(`smtp://127.0.0.1:${server.port}`);
    await until(gone, 'refused');
    const refused = await queue.of(gone);
    assert.deepEqual([refused.hasContent, refused.attempts], [false, 1]);
    assert.match(refused.reason ?? '', /refused the recipient \(550.*no such mailbox/);
    await eventually(async () => (await queue.of(later)).reason !== null || undefined);
    assert.match((await queue.of(later)).reason ?? '', /451/);
    const event = await eventually(async () => {
      const sql = `select kind, actor from auth.events where subject_id = (select id::text from auth.mails where recipient = :gone)`;
      return (await rows<{ kind: string; actor: string }>(store.knex, sql, { gone }))[0];
    });
    assert.deepEqual(event, { kind: 'mail-not-sent', actor: 'system' });
    answers.delete(later);
    await queue.age(later, 0);
    await until(later, 'sent', 2);
  });

  it('wait while the server refuses the connection, the sender or the credentials, which no reason repeats', async () => {
    const faults = [
      { onConnect: (_session: unknown, callback: (error: Error) => void) => callback(refusal(554, 'not you')) },
      {
        onMailFrom: (_a: unknown, _s: unknown, callback: (error: Error) => void) =>
          callback(refusal(553, 'not that sender')),
      },
      {
        onAuth: (_a: unknown, _s: unknown, callback: (error: Error) => void) => callback(new Error('bad credentials')),
      },
    ];
    for (const fault of faults) {
      await using server = await openMailServer(fault);
      const to = someone();
      await queue.add(to);
      await using _sender = queue.sender(`smtp://user:hidden-password@127.0.0.1:${server.port}`);
      await eventually(async () => (await queue.of(to)).reason !== null || undefined);
      const { state, reason } = await queue.of(to);
      assert.equal(state, 'waiting', reason ?? '');
      assert.ok(!`${reason}${queue.lines.join('')}`.includes('hidden-password'));
    }
  });

  it('go only over TLS to a server whose certificate is trusted, with the credentials after that', async () => {
    const authority = await testAuthority();
    const identity = await authority.issue({ hosts: ['127.0.0.1'] });
    const seen: boolean[] = [];
    const options = {
      ...identity,
      allowInsecureAuth: false,
      onAuth: (_auth: unknown, { secure }: { secure: boolean }, callback: (error: null, user: object) => void) => {
        seen.push(secure);
        callback(null, { user: 'user' });
      },
    };
    for (const tls of ['always', 'required'] as const) {
      await using server = await openMailServer({ ...options, secure: tls === 'always' });
      const url = `smtp://user:pass@127.0.0.1:${server.port}`;
      const to = someone();
      await queue.add(to);
      {
        await using _untrusting = queue.sender(url, { tls });
        await eventually(async () => (await queue.of(to)).reason !== null || undefined);
        assert.deepEqual(seen.splice(0), []);
      }
      await queue.age(to, 0);
      await using _sender = queue.sender(url, { tls, caFile: authority.caFile });
      await until(to, 'sent');
      assert.deepEqual(seen.splice(0), [true]);
    }
    await using plain = await openMailServer();
    const to = someone();
    await queue.add(to);
    await using _sender = queue.sender(`smtp://user:pass@127.0.0.1:${plain.port}`, { tls: 'required' });
    await eventually(async () => (await queue.of(to)).reason !== null || undefined);
    assert.deepEqual(plain.taken, []);
  });

  it('of a replica that stopped in between are sent by another one, and what the first one writes then counts no more', async () => {
    const to = someone();
    await queue.add(to);
    const mails = mailStore(store.knex);
    const first = await mails.claim(AUTH_LIMITS.mailLeaseMs);
    assert.equal(await mails.claim(AUTH_LIMITS.mailLeaseMs), null, 'the lease keeps others away');
    await queue.age(to, 0);
    await using server = await openMailServer();
    await using _sender = queue.sender(`smtp://127.0.0.1:${server.port}`);
    await until(to, 'sent', 2);
    assert.equal(await mails.finish(first!, { state: 'refused', reason: 'late' }), null);
    assert.equal((await queue.of(to)).state, 'sent');
  });

  it('are given up after a day, with the last attempt at its end, and are not kept without bound [never.unbounded]', async () => {
    const to = someone();
    await queue.add(to);
    await queue.age(to, AUTH_LIMITS.mailMs / 1000);
    await using broken = await openBrokenServer('greeting', 'drops');
    await using _sender = queue.sender(`smtp://127.0.0.1:${broken.port}`, { stepMs: STEP_MS });
    await until(to, 'given-up', 1);
    assert.equal((await queue.of(to)).hasContent, false);
    assert.match(await queue.metrics.metrics(), /wts_mail_attempts_total\{outcome="given-up"\} 1/);
    await rows(store.knex, `update auth.mails set ended_at = ended_at - interval '7 days 1 second'`);
    assert.equal(await mailStore(store.knex).deleteEnded(), 1);
  });

  it('are refused when too many wait, and wait from 5 seconds to 6 hours between attempts [never.unbounded]', async () => {
    const sql = `insert into auth.mails (id, kind, recipient, content, sealed_with, ends_at, next_at)
      select gen_random_uuid(), 'welcome', 'a@example.com', 'a', 'b', now() + interval '1 hour', now() + interval '1 hour'
      from generate_series(1, :most)`;
    await rows(store.knex, sql, { most: AUTH_LIMITS.mailsWaitingMax });
    const data = { url: 'https://auth.example', name: 'Ada' };
    assert.equal(await queue.mailer.add({ kind: 'verify-address', to: someone(), data }), false);
    const delays = Array.from({ length: 12 }, (_, n) => retryAfterMsOf(n + 1, () => 0.5) / 1000);
    assert.deepEqual([delays[0], delays[1], delays.at(-1)], [5, 20, 6 * 3600]);
  });
});
