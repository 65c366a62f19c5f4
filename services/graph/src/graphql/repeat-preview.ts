import { Fault } from '@wts/contracts';
import { invalid } from '../domain/errors.ts';
import { readRepeatRule, Workspace } from '@wts/models';
import { calendarAt, previewDays, ruleFault } from '@wts/models/repeat';
import { repeatText } from '@wts/models/words';
import { GRAPH_LIMITS } from '../limits.ts';
import type { Reads } from '../queries/reads.ts';
import type { RequestContext } from './request-context.ts';

export interface PreviewArguments {
  readonly rule: string;
  readonly from: 'date' | 'completion';
  readonly anchor?: string | null;
  readonly first: number;
  readonly workspaceId?: string | null;
  readonly timeZone?: string | null;
}

interface RepeatPreview {
  readonly text: string | null;
  readonly days: readonly string[];
}

/** The days of a rule, or the refusal that a change of a task to this rule would get. Keeps graphql.repeat.preview. */
export async function repeatPreview(
  { reads, turns, principal, signal }: RequestContext,
  { rule, from, anchor, first, ...zone }: PreviewArguments,
): Promise<RepeatPreview> {
  const timeZone = await timeZoneOf(reads, zone);
  const reading = readRepeatRule(rule);
  if (!reading.ok) throw invalid(`repeatRule ${reading.reason}`);
  const { previewDaysMax, previewCharsMax } = GRAPH_LIMITS;
  const daysMax = Math.min(previewDaysMax, Math.floor(previewCharsMax / rule.length));
  if (first < 1 || first > daysMax) throw invalid(`first must be 1 to ${daysMax} for this rule`);
  const turn = async (): Promise<void> => {
    await turns.take(principal.userId, rule.length * FIELDS_OF_CHAR);
    signal.throwIfAborted();
  };
  await turn();
  const calendar = calendarAt(new Date().toISOString(), timeZone);
  const startDate = anchor ?? calendar.today;
  const task = { rule: reading.rule, from, anchor: startDate, startDate, deadlineAt: null };
  const fault = ruleFault(task, calendar);
  if (fault !== null) throw invalid(fault);
  const text = repeatText({ repeatRule: task.rule, repeatFrom: from, repeatAnchor: startDate });
  const days: string[] = [];
  for (const day of previewDays(task, calendar)) {
    if (days.push(day) === first) break;
    await turn();
  }
  return { text, days };
}

/** A day takes at most about as long as so many fields of an answer for each character of its rule. */
const FIELDS_OF_CHAR = 25;

async function timeZoneOf(
  reads: Reads,
  { workspaceId, timeZone }: Pick<PreviewArguments, 'workspaceId' | 'timeZone'>,
): Promise<string> {
  if (typeof workspaceId !== 'string') {
    const reading = Workspace.fields.timeZone.read(timeZone ?? 'UTC');
    if (!reading.ok) throw invalid(`timeZone ${reading.reason}`);
    return reading.value;
  }
  if (typeof timeZone === 'string') throw invalid('Give workspaceId or timeZone, not both');
  const workspace = await reads.byId(Workspace, workspaceId);
  if (workspace === null) throw new Fault('not_found', { message: 'Workspace not found' });
  return workspace['timeZone'] as string;
}
