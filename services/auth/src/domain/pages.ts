/** The pages of a list of any length, one at a time: each begins after the last item of the one before. */
export async function* pagesOf<T>(
  size: number,
  read: (last: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  let page: readonly T[] = [];
  do {
    page = await read(page.at(-1));
    yield page;
  } while (page.length >= size);
}
