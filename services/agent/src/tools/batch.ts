import type { TaskChange } from './change-tasks.ts';
import type { ChangedTask } from '../views/results.ts';
import { isFailureCode, refusedWords, type ToolError } from '../tool-error.ts';

/** The items of a call: changes, and why others are none. */
export interface Changes {
  readonly valid: readonly { readonly index: number; readonly change: TaskChange }[];
  readonly refused: ReadonlyMap<number, ToolError>;
}

/** Makes a change of each item. Refused words refuse only their own item. */
export async function changesOf<T>(
  items: readonly T[],
  make: (item: T, index: number) => Promise<TaskChange>,
): Promise<Changes> {
  const valid: { index: number; change: TaskChange }[] = [];
  const refused = new Map<number, ToolError>();
  const made = await Promise.allSettled(items.map(make));
  for (const [index, one] of made.entries()) {
    if (one.status === 'fulfilled') {
      valid.push({ index, change: one.value });
      continue;
    }
    const refusal = refusedWords(one.reason);
    if (refusal === null || isOfCall(refusal)) throw one.reason;
    refused.set(index, refusal);
  }
  return { valid, refused };
}

/** Whether an error is about the whole call, not about an item. */
function isOfCall({ code }: ToolError): boolean {
  return isFailureCode(code) || code === 'rate_limited';
}

/** The outcome of each item, in the order of the call. */
export function outcomesOf(
  count: number,
  { refused }: Changes,
  made: ReadonlyMap<number, ChangedTask | ToolError>,
): (ChangedTask | ToolError)[] {
  return Array.from(
    { length: count },
    (_, index) => (refused.get(index) ?? made.get(index)) as ChangedTask | ToolError,
  );
}
