import { MODELS, User } from '@wts/models';
import { pagesOf } from '../domain/pages.ts';
import type { PersonalDatum } from '../store/personal-data.ts';
import type { AskedCell } from './cell-directory.ts';
import type { Directory } from './directory.ts';

/** Records have up to a quarter of a megabyte. */
const PAGE = 100;
const LOWEST = '00000000-0000-0000-0000-000000000000';

/**
 * Everything that is stored of a person, in pages, so that any amount of it takes a bounded memory: records, then what is stored here. Without
 * the history of records, which workspaces have. Keeps operator.export.whole.
 */
export async function* personalData(
  directory: Pick<Directory, 'cellsOf'>,
  userId: string,
  own: AsyncIterable<PersonalDatum>,
): AsyncGenerator<PersonalDatum> {
  const [first, ...others] = await directory.cellsOf(userId);
  for (const cell of first === undefined ? [] : [first, ...others]) {
    for (const model of MODELS) {
      // The others have copies of the person.
      if (cell === first || model !== User) yield* recordsOf(cell, userId, model.name);
    }
  }
  yield* own;
}

async function* recordsOf(cell: AskedCell, userId: string, model: string): AsyncGenerator<PersonalDatum> {
  const pages = pagesOf<{ readonly id: string; readonly record: object }>(PAGE, (last) =>
    cell.recordsOfPerson({ userId, model, after: last?.id ?? LOWEST, limit: PAGE }),
  );
  for await (const page of pages) for (const { record } of page) yield { type: model, ...record };
}
