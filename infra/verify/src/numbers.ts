/** What was asked for on the command line: each a number and within its bound, or one sentence that says which is not. */
export function numbersOf<Name extends string>(
  values: Readonly<Record<Name, string>>,
  least: Readonly<Record<NoInfer<Name>, number>>,
): Record<Name, number> {
  const read = Object.entries<string>(values).map(([name, text]) => {
    const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    const min = least[name as Name];
    if (!(number >= min)) throw new Error(`--${name} must be a number, ${min} or more; it is "${text}".`);
    return [name, number];
  });
  return Object.fromEntries(read) as Record<Name, number>;
}

/** The same for a program that has nothing to clean up yet: the sentence is all it says. */
export function numbersOrExit<Name extends string>(
  values: Readonly<Record<Name, string>>,
  least: Readonly<Record<NoInfer<Name>, number>>,
): Record<Name, number> {
  try {
    return numbersOf(values, least);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}
