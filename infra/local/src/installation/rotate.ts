import { UserError } from '../user-error.ts';
import { ROTATIONS, type Rotation } from './rotations.ts';
import type { SecretValues } from './secrets-file.ts';

const STEPS = ['add', 'use', 'drop'] as const;
export type Step = (typeof STEPS)[number];

/** The key with the steps that were made, by the name of the rotation. No service reads it. */
const STATE = 'ROTATIONS';
type State = Readonly<Record<string, { readonly step: 'add' | 'use'; readonly at: string }>>;

export interface RotateOptions {
  readonly nowMs: number;
  /** Does not wait until what the old secret is needed for has ended. */
  readonly isUrgent?: boolean;
}

/** The secrets after one step of a rotation, and what to do with them. Refuses a step that is not the next one. Keeps secrets.steps. */
export function rotate(
  values: SecretValues,
  name: string,
  step: string,
  options: RotateOptions,
): { readonly values: SecretValues; readonly advice: string } {
  const rotation = rotationOf(name);
  const state = JSON.parse(values[STATE] ?? '{}') as State;
  const next = nextStep(state, name);
  if (!STEPS.includes(step as Step))
    throw new UserError(`The steps are ${STEPS.join(', ')}. The next one of ${name} is "${next}".`);
  if (step !== next) throw new UserError(refusalOf(name, step as Step, next));
  if (next === 'drop') refuseEarlyDrop(rotation, state[name]?.at ?? '', options);
  const change = rotation[next](values);
  if (Object.keys(change).length === 0)
    throw new UserError(`The file of secrets has nothing of ${name}: ${rotation.what}.`);
  const { [name]: _, ...others } = state;
  const at = new Date(options.nowMs).toISOString();
  const made: State = next === 'drop' ? others : { ...others, [name]: { step: next, at } };
  const changed: Record<string, string | undefined> = {
    ...values,
    ...change,
    [STATE]: Object.keys(made).length === 0 ? undefined : JSON.stringify(made),
  };
  const kept = Object.entries(changed).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { values: Object.fromEntries(kept), advice: adviceOf(name, rotation, next) };
}

/** Each rotation, and how far it is. */
export function statusOf(values: SecretValues): string {
  const state = JSON.parse(values[STATE] ?? '{}') as State;
  return Object.entries(ROTATIONS)
    .map(([name, { what }]) => {
      const made = state[name];
      const progress =
        made === undefined ? '' : `; "${made.step}" was made at ${made.at}, next is "${nextStep(state, name)}"`;
      return `${name.padEnd(14)} ${what}${progress}\n`;
    })
    .join('');
}

function rotationOf(name: string): Rotation {
  const rotation = Object.hasOwn(ROTATIONS, name) ? ROTATIONS[name] : undefined;
  if (rotation === undefined)
    throw new UserError(`There is no rotation "${name}". They are ${Object.keys(ROTATIONS).join(', ')}.`);
  return rotation;
}

function nextStep(state: State, name: string): Step {
  const done = state[name]?.step;
  return STEPS[done === undefined ? 0 : STEPS.indexOf(done) + 1] ?? 'add';
}

function refusalOf(name: string, step: Step, next: Step): string {
  if (next === 'add') return `${name} is not being changed, so there is nothing to ${step}. Begin with "add".`;
  const isDone = STEPS.indexOf(step) < STEPS.indexOf(next);
  return isDone
    ? `"${step}" of ${name} was made already, and its secret may be in use. The next step is "${next}".`
    : `Before "${step}" of ${name} comes "${next}": otherwise a process that still has the file before would refuse another one.`;
}

function refuseEarlyDrop({ keptMs }: Rotation, usedAt: string, { nowMs, isUrgent = false }: RotateOptions): void {
  const fromMs = Date.parse(usedAt) + keptMs;
  if (isUrgent || nowMs >= fromMs) return;
  throw new UserError(
    `The old secret is needed until ${new Date(fromMs).toISOString()}, for what was made with it. With --now it is dropped at once, and that is lost.`,
  );
}

function adviceOf(name: string, { also = {} }: Rotation, step: Step): string {
  const restart = 'Give every process this file and restart them one after the other.';
  if (step === 'drop') return `${restart} Then the old secret is refused everywhere.`;
  const more = also[step] === undefined ? '' : ` ${also[step]}`;
  return `${restart}${more} When all run with it: rotate ${name} ${step === 'add' ? 'use' : 'drop'}.`;
}
