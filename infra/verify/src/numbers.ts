/** Parses numbers of the command line. Throws a sentence that names the first one which is not a number or too small. */
export function numbersOf<Name extends string>(
  values: Readonly<Record<Name, string>>,
  least: Readonly<Record<NoInfer<Name>, number>>,
): Record<Name, number> {
  const read = Object.entries<string>(values).map(([name, text]) => {
    const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    const min = least[name as Name];
    if (!(number >= min)) throw new Error(`--${name} must be a number of at least ${min}, not "${text}".`);
    return [name, number];
  });
  return Object.fromEntries(read) as Record<Name, number>;
}

/** The same for a program that has nothing to clean up yet: prints the sentence and exits. */
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
