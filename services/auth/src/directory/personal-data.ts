import { MODELS } from '@wts/models';
import type { PersonalDatum } from '../store/personal-data.ts';
import type { Directory } from './directory.ts';

/** Records have up to a quarter of a megabyte. */
const PAGE = 100;
const LOWEST = '00000000-0000-0000-0000-000000000000';

/**
 * Everything that is stored of a person, in pages, so that any amount of it takes a bounded memory: records, then what is stored here. Without
 * the history of records, which workspaces have. Keeps operator.export.whole.
 */
export async function* personalData(
  directory: Pick<Directory, 'recordsOfPerson'>,
  userId: string,
  own: AsyncIterable<PersonalDatum>,
): AsyncGenerator<PersonalDatum> {
  for (const { name: model } of MODELS) {
    let after = LOWEST;
    for (;;) {
      const page = await directory.recordsOfPerson({ userId, model, after, limit: PAGE });
      for (const { record } of page) yield { type: model, ...record };
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.id;
    }
  }
  yield* own;
}
