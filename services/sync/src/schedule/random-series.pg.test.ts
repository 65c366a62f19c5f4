import assert from 'node:assert/strict';
import { walkDays } from '@wts/models/calendar-walk';
import fc from 'fast-check';
import { Client } from 'pg';
import { DatabaseClock } from '../../test/database-clock.ts';
import { applied, change, ENGINES, TestEngines, type TestPerson } from '../../test/test-engines.ts';
import type { Unit } from '../decision/unit.ts';
import { RepeatScheduler } from './repeats.ts';

/** Histories; `SERIES_RUNS=10000 npm test -- --only services/sync --grep 'any history'` runs more. */
const RUNS = Number(process.env['SERIES_RUNS'] ?? 25);
/** Histories that share a clock and the rounds of the scheduler. */
const TOGETHER = 200;
const OPEN_MAX = 3;
const STEPS = 14;
const ZONES = ['UTC', 'Pacific/Auckland', 'America/Los_Angeles'] as const;
const START = '2020-06-10';

type Day = string;
const plus = (day: Day, days: number): Day => Temporal.PlainDate.from(day).add({ days }).toString();

/** What happens to a series at each step of the clock, before the scheduler runs. */
const action = fc.oneof(
  { weight: 5, arbitrary: fc.constant('nothing' as const) },
  { weight: 4, arbitrary: fc.constantFrom('complete', 'complete twice', 'complete oldest' as const) },
  { weight: 1, arbitrary: fc.constantFrom('reopen', 'skip', 'move', 'archive' as const) },
);
const weekdays = fc.subarray(['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'], { minLength: 1, maxLength: 3 });
const rule = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 1, max: 4 }).map((interval) => `FREQ=DAILY;INTERVAL=${interval}`),
      fc
        .tuple(fc.integer({ min: 1, max: 2 }), weekdays)
        .map(([n, days]) => `FREQ=WEEKLY;INTERVAL=${n};BYDAY=${days.join()}`),
      fc.constantFrom('FREQ=WEEKLY', 'FREQ=MONTHLY', 'FREQ=MONTHLY;BYMONTHDAY=-1,15', 'FREQ=MONTHLY;BYDAY=-1FR'),
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }).map((count) => `;COUNT=${count}`) },
      {
        weight: 1,
        arbitrary: fc.integer({ min: 1, max: 30 }).map((days) => `;UNTIL=${plus(START, days).replaceAll('-', '')}`),
      },
    ),
  )
  .map((parts) => parts.join(''));
const history = fc.record({
  rule,
  from: fc.constantFrom('date' as const, 'date' as const, 'completion' as const),
  zone: fc.constantFrom(...ZONES),
  first: fc.integer({ min: 0, max: 4 }).map((days) => plus(START, days)),
  actions: fc.array(action, { minLength: STEPS, maxLength: STEPS }),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

interface ModelTask {
  day: Day;
  isDone: boolean;
}

/** A series as a person would keep it with a calendar on paper. */
class PlainSeries {
  readonly tasks: ModelTask[];
  readonly #history: History;
  #rule: string | null;
  #index = 1;
  #nextDate: Day | null = null;
  #isInTrash = false;
  #days: readonly Day[] = [];

  constructor(given: History) {
    this.#history = given;
    this.#rule = given.rule;
    this.tasks = [{ day: given.first, isDone: false }];
    this.#restart(given.first);
  }

  get #newest(): ModelTask {
    return this.tasks.at(-1)!;
  }

  #restart(anchor: Day): void {
    const bare = this.#history.rule.replace(/;(?:COUNT|UNTIL)=\w+/, '');
    // So far that no history gets there, one occurrence a step.
    const days = bare.includes('MONTHLY') ? 600 : 250;
    this.#days = walkDays(bare, anchor, plus(anchor, -1), plus(anchor, days));
    this.#nextDate = this.#history.from === 'date' ? this.#dayAfter(this.#newest.day) : null;
  }

  /** The first day of the rule after one, from another one on; null when the series ends before. */
  #dayAfter(own: Day, from: Day = own): Day | null {
    const day = this.#days.find((one) => one > own && one >= from);
    return day === undefined || !this.#isWithin(own, day) ? null : day;
  }

  #passed(own: Day, day: Day): number {
    return this.#history.from === 'completion' ? 1 : this.#days.filter((one) => one > own && one <= day).length;
  }

  #isWithin(own: Day, day: Day): boolean {
    const [, end, value] = /;(COUNT|UNTIL)=(\w+)/.exec(this.#history.rule) ?? [];
    if (end === 'COUNT') return this.#index + this.#passed(own, day) <= Number(value);
    return end !== 'UNTIL' || day.replaceAll('-', '') <= value!;
  }

  #make(day: Day): void {
    this.#index += this.#passed(this.#newest.day, day);
    const isLast = this.#history.rule.endsWith(`COUNT=${this.#index}`);
    this.tasks.push({ day, isDone: false });
    this.#goTo(day, isLast);
  }

  #goTo(day: Day, isLast: boolean): void {
    if (isLast) this.#rule = null;
    if (this.#history.from === 'completion') this.#restart(day);
    this.#nextDate = isLast || this.#history.from === 'completion' ? null : this.#dayAfter(day);
  }

  #next(today: Day): Day | null {
    const own = this.#newest.day;
    if (this.#history.from === 'date') return this.#dayAfter(own, today);
    this.#restart(today);
    return this.#dayAfter(today);
  }

  /** Returns whether the action is possible. */
  act(what: History['actions'][number], today: Day): boolean {
    const newest = this.#newest;
    const hasRule = this.#rule !== null;
    if (what === 'nothing' || this.#isInTrash) return false;
    if (what === 'reopen') {
      const done = this.tasks.findLast(({ isDone }) => isDone);
      if (!done) return false;
      done.isDone = false;
      if (done === newest && hasRule && this.#history.from === 'date') this.#nextDate = this.#dayAfter(newest.day);
      return true;
    }
    if (what === 'complete oldest') {
      const oldest = this.tasks.find(({ isDone }) => !isDone);
      if (!oldest || oldest === newest) return false;
      oldest.isDone = true;
      return true;
    }
    if (newest.isDone) return false;
    if (what === 'archive') return (this.#isInTrash = hasRule);
    if (what === 'complete' || what === 'complete twice') {
      newest.isDone = true;
      this.#nextDate = null;
      const day = hasRule ? this.#next(today) : null;
      if (day !== null) this.#make(day);
      return true;
    }
    if (!hasRule) return false;
    if (what === 'move') {
      newest.day = plus(newest.day, 1);
      this.#restart(newest.day);
      return true;
    }
    return this.#skip(today);
  }

  #skip(today: Day): boolean {
    const newest = this.#newest;
    const day = this.#next(this.#history.from === 'date' || today > newest.day ? today : newest.day);
    if (day === null) return false;
    this.#index += this.#passed(newest.day, day);
    newest.day = day;
    this.#goTo(day, this.#history.rule.endsWith(`COUNT=${this.#index}`));
    return true;
  }

  schedule(today: Day): void {
    const { day: own } = this.#newest;
    if (this.#isInTrash) {
      this.#isInTrash = false;
      return;
    }
    if (this.#nextDate === null || this.#nextDate > today) return;
    const latest = this.#days.findLast((one) => one > own && one <= today && this.#isWithin(own, one));
    if (latest === undefined) this.#nextDate = this.#dayAfter(own);
    else if (this.tasks.filter(({ isDone }) => !isDone).length < OPEN_MAX) this.#make(latest);
    else this.#nextDate = this.#days.find((one) => one > own && one > today && this.#isWithin(own, one)) ?? null;
  }
}

interface StoredTask {
  readonly id: string;
  readonly series: string;
  readonly day: Day;
  readonly isDone: boolean;
}

/** What was not as the plain series has it. */
interface Findings {
  missing: number;
  doubled: number;
  other: number;
  readonly examples: string[];
}

describe('the tasks of a series', function () {
  this.timeout(3_600_000);
  let engines: TestEngines;
  let clock: DatabaseClock;
  let killer: Client;
  before(async () => {
    engines = await TestEngines.open('random_series', 3);
    clock = await DatabaseClock.open(engines.database, `${START}T09:00:00.000Z`);
    killer = new Client({ connectionString: engines.database.url });
    await killer.connect();
  });
  after(async () => {
    await killer.end();
    await clock[Symbol.asyncDispose]();
    await engines[Symbol.asyncDispose]();
  });

  it('are those that a plain calendar has, none missing and none doubled, after any history of completions on several replicas, skips, clocks that go back, lost connections and schedulers that stop [sync.repeat.once]', async () => {
    const seed = Number(process.env['SERIES_SEED'] ?? 0) || Date.now() % 1_000_000;
    const findings: Findings = { missing: 0, doubled: 0, other: 0, examples: [] };
    for (let from = 0; from < RUNS; from += TOGETHER) {
      const histories = fc.sample(history, { seed: seed + from, numRuns: Math.min(TOGETHER, RUNS - from) });
      const hours = fc.sample(fc.integer({ min: -5, max: 60 }), { seed: seed + from, numRuns: STEPS });
      await live({ histories, hours, findings });
    }
    const { missing, doubled, other, examples } = findings;
    if (RUNS > TOGETHER)
      process.stdout.write(
        `${RUNS} histories, seed ${seed}: ${missing} missing, ${doubled} doubled, ${other} others\n`,
      );
    assert.deepEqual(
      { missing, doubled, other },
      { missing: 0, doubled: 0, other: 0 },
      `seed ${seed}\n${examples.join('\n')}`,
    );
  });

  /** Again after each lost connection, as clients do. */
  async function untilDone(run: () => Promise<unknown>): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        await run();
        return;
      } catch (error) {
        if (error instanceof assert.AssertionError || failures > 100) throw error;
      }
    }
  }
  const send = (unit: Unit, replica: number): Promise<void> =>
    untilDone(async () => applied(await engines.send(unit, engines.all[replica % 3])));

  async function schedule(replica: number, turnsMax = Infinity): Promise<void> {
    const scheduler = new RepeatScheduler({
      pool: engines.checks,
      engine: engines.all[replica % 3]!,
      openMax: OPEN_MAX,
    });
    for (let turns = 0; turns < turnsMax; turns += 1) if ((await scheduler.turn()) === 'done') return;
  }

  async function live({
    histories,
    hours,
    findings,
  }: {
    histories: readonly History[];
    hours: readonly number[];
    findings: Findings;
  }): Promise<void> {
    let now = Temporal.Instant.from(`${START}T09:00:00Z`);
    await clock.set(now.toString());
    const owner = await engines.person();
    const homes = new Map<string, string>();
    for (const zone of ZONES) {
      const id = await engines.workspace(owner);
      await owner.change('Workspace', id, { timeZone: zone });
      homes.set(zone, id);
    }
    const ids = await Promise.all(
      histories.map(({ rule: repeatRule, from, zone, first }) =>
        owner.make('Task', {
          workspaceId: homes.get(zone),
          title: 'T',
          startDate: first,
          repeatRule,
          repeatFrom: from,
        }),
      ),
    );
    const models = histories.map((one) => new PlainSeries(one));
    for (const [step, by] of hours.entries()) {
      now = now.add({ hours: by });
      await clock.set(now.toString());
      const today = (zone: string): Day => now.toZonedDateTimeISO(zone).toPlainDate().toString();
      const stored = await tasksOf(ids);
      const changes = histories.map(async ({ actions, zone }, index) => {
        const what = actions[step] ?? 'nothing';
        if (!models[index]!.act(what, today(zone))) return;
        const tasks = stored.get(ids[index]!)!;
        const mutation = mutationOf(what, tasks, now.toString());
        const times = what === 'complete twice' ? [0, 1] : [0];
        await Promise.all(times.map((time) => send(owner.unit(mutation), index + time)));
      });
      await Promise.all([...changes, ...(step % 5 === 2 ? [kill()] : [])]);
      await Promise.allSettled([schedule(step), schedule(step + 1, 1), ...(step % 5 === 4 ? [kill()] : [])]);
      await untilDone(() => schedule(step + 2));
      await unarchive(owner);
      for (const [index, model] of models.entries()) model.schedule(today(histories[index]!.zone));
    }
    const stored = await tasksOf(ids);
    for (const [index, model] of models.entries())
      compare(histories[index]!, model, stored.get(ids[index]!) ?? [], findings);
    await engines.checks.query('update sync.tasks set archived_at = now() where repeat_rule is not null');
  }

  function mutationOf(what: string, tasks: readonly StoredTask[], now: string) {
    const newest = tasks.at(-1)!;
    const moved = { startDate: plus(newest.day, 1) };
    if (what === 'archive') return change('ARCHIVE', 'Task', newest.id);
    if (what === 'skip') return change('UPDATE', 'Task', newest.id, { repeatSkip: true });
    if (what === 'move') return change('UPDATE', 'Task', newest.id, moved);
    if (what === 'reopen')
      return change('UPDATE', 'Task', tasks.findLast(({ isDone }) => isDone)!.id, { completedAt: null });
    const completed = what === 'complete oldest' ? tasks.find(({ isDone }) => !isDone)! : newest;
    return change('UPDATE', 'Task', completed.id, { completedAt: now });
  }

  async function unarchive(owner: TestPerson): Promise<void> {
    const { rows } = await engines.checks.query<{ id: string }>(
      `select id from sync.tasks where archived_at is not null and repeat_rule is not null and creator_id = $1`,
      [owner.id],
    );
    await Promise.all(rows.map(({ id }, index) => send(owner.unit(change('UNARCHIVE', 'Task', id)), index)));
  }

  async function tasksOf(ids: readonly string[]): Promise<Map<string, StoredTask[]>> {
    const { rows } = await engines.checks.query<StoredTask>(
      `select id, repeat_template_id as series, start_date::text as day, completed_at is not null as "isDone"
        from sync.tasks where repeat_template_id = any($1) order by number`,
      [ids],
    );
    return Map.groupBy(rows, ({ series }) => series);
  }

  const kill = (): Promise<unknown> =>
    killer.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = $1 and random() < 0.5`,
      [ENGINES],
    );
});

function compare(given: History, { tasks }: PlainSeries, stored: readonly StoredTask[], findings: Findings): void {
  const show = (list: readonly { readonly day: Day; readonly isDone: boolean }[]): string =>
    list.map(({ day, isDone }) => `${day.slice(5)}${isDone ? '*' : ''}`).join(' ');
  if (show(tasks) === show(stored)) return;
  const days = new Set(stored.map(({ day }) => day));
  const missing = tasks.filter(({ day }) => !days.has(day)).length;
  const doubled = stored.length - days.size;
  findings.missing += missing;
  findings.doubled += doubled;
  findings.other += missing + doubled === 0 ? 1 : 0;
  findings.examples.push(`${JSON.stringify(given)}\n  plain:  ${show(tasks)}\n  stored: ${show(stored)}`);
}
