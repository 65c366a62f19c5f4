import type { Call } from '../call.ts';
import { CliFault, usageFault } from '../fault.ts';
import { readText } from './texts.ts';

export async function graphql({ words, options, io, output, session, signal }: Call): Promise<void> {
  const [given] = words;
  const file = options.text('file');
  if (given !== undefined && file !== undefined) throw usageFault('Give the document once: as a word, or by --file.');
  const source = file === undefined ? (given ?? '-') : file === '-' ? '-' : `@${file}`;
  const isTyped = given === undefined && file === undefined && io.isTty.stdin;
  const document = isTyped ? '' : await readText(source, io);
  if (document.trim() === '') throw usageFault('No document was given.', "Such as: wts graphql '{ viewer { name } }'");
  const variables = Object.fromEntries(options.list('var').map((one) => readField(one, '--var')));
  const { api } = await session();
  for (let endCursor: string | null = null; ;) {
    const paged = options.flag('paginate') ? { ...variables, endCursor } : variables;
    const data: unknown = await api.graphql<unknown>(document, paged, { signal }).catch((error: unknown) => {
      // The document is the person's own.
      throw error instanceof CliFault ? error.cause : error;
    });
    await output.value(data);
    const next = options.flag('paginate') ? pageInfoOf(data) : null;
    if (next?.hasNextPage !== true) return;
    endCursor = next.endCursor;
  }
}

interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

/** The first one in the answer. */
function pageInfoOf(value: unknown): PageInfo | null {
  if (typeof value !== 'object' || value === null) return null;
  if ('pageInfo' in value) return value.pageInfo as PageInfo;
  for (const one of Object.values(value)) {
    const found = pageInfoOf(one);
    if (found !== null) return found;
  }
  return null;
}

/** `first=20`, `ids=["a"]`, `name=Acme`. */
export function readField(given: string, option: string): [string, unknown] {
  const at = given.indexOf('=');
  if (at <= 0) throw usageFault(`${option} takes name=value, not ${JSON.stringify(given)}.`);
  const [name, value] = [given.slice(0, at), given.slice(at + 1)];
  if (!/^(?:true|false|null|-?\d|[[{"])/.test(value)) return [name, value];
  try {
    return [name, JSON.parse(value) as unknown];
  } catch {
    return [name, value];
  }
}
