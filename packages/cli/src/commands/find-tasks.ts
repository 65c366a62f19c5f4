import { NameError, tasksOf, type TaskRef } from '@wts/client/names';
import { text } from 'node:stream/consumers';
import type { Call } from '../call.ts';
import { usageFault, type CliFault } from '../fault.ts';
import { faultOf } from '../session/fault-of.ts';
import type { Outcome } from './changes.ts';
import { findTask, isExactWord } from './find-task.ts';

/** A filter of GraphQL has 50 comparisons, and a key needs two. */
const TOGETHER_MAX = 20;

/** The tasks that words name; `-` reads the words from stdin, one a line, as lists print them. Those found come with the reason of the others. */
export async function findTasks(call: Call, given: readonly string[]): Promise<Outcome<TaskRef>[]> {
  const words = given.length === 1 && given[0] === '-' ? await readWords(call) : given;
  if (words.length === 0) throw usageFault('No task was named.');
  const exact = [...new Set(words.filter((word) => isExactWord(word)))];
  const { names: openNames, workspace } = await call.session();
  const names = await openNames();
  const found = new Map<string, TaskRef | CliFault>();
  for (let from = 0; from < exact.length; from += TOGETHER_MAX) {
    const some = exact.slice(from, from + TOGETHER_MAX);
    // A number alone is one of the workspace; a key and an id name a task in any.
    for (const isNumber of [false, true]) {
      const of = some.filter((word) => /^#?\d+$/.test(word) === isNumber);
      const refs = of.length === 0 ? [] : await tasksOf(of, isNumber ? (await workspace()).id : undefined, names);
      refs.forEach((ref, at) => found.set(of[at] ?? '', ref instanceof NameError ? faultOf(ref) : ref));
    }
  }
  return Promise.all(
    [...new Set(words)].map(async (word) => ({
      word,
      result: found.get(word) ?? (await findTask(word, call).catch((error: unknown) => faultOf(error))),
    })),
  );
}

async function readWords({ io }: Call): Promise<string[]> {
  const lines = (await text(io.stdin)).split('\n');
  return lines.map((line) => line.split('\t')[0]?.trim() ?? '').filter((word) => word !== '');
}
