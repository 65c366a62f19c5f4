/** See `apt.mjs`, which runs on any Node; this is for the packages that do not read JavaScript. */
export function aptOptions(directory: string): Promise<string[]>;
