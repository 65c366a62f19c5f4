const texts = new WeakMap<readonly string[], string>();

/** The list as JSON, cached by list, because a person with tens of thousands of groups may have a thousand sockets. */
export function listText(list: readonly string[]): string {
  return texts.getOrInsertComputed(list, () => JSON.stringify(list));
}

const ordered = new WeakMap<ReadonlySet<string>, readonly string[]>();

/** The person's own group first, then the others in ascending order. Cached by set. */
export function inOrder(userId: string, groups: ReadonlySet<string>): readonly string[] {
  return ordered.getOrInsertComputed(groups, () =>
    [...groups].sort((a, b) => Number(b === userId) - Number(a === userId) || (a < b ? -1 : 1)),
  );
}
