import { EDGE_LIMITS } from './limits.ts';

/**
 * Notice that an operation will be removed: section 9 of the specification. Dates are ISO days, at midnight UTC.
 * Keeps versioning.retiring.headers, versioning.retiring.notice.
 */
export interface Deprecation {
  /** `id` of the contract. */
  readonly operation: string;
  readonly deprecatedOn: string;
  /** Earliest day of the removal. */
  readonly sunsetOn: string;
  /** Page about what to use instead. */
  readonly link: string;
}

/** Operations that will be removed, one row each. The gateway does not start when the notice of a row is too short. */
export const DEPRECATIONS: readonly Deprecation[] = [];

const DAY_MS = 24 * 60 * 60 * 1000;

/** Headers per operation. Throws one error that names every mistake in the table. */
export function deprecationHeaders(
  table: readonly Deprecation[],
  operations: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const faults: string[] = [];
  const headers = new Map<string, readonly string[]>();
  for (const row of table) {
    const from = parseDay(row.deprecatedOn);
    const until = parseDay(row.sunsetOn);
    if (!operations.has(row.operation)) faults.push(`${row.operation} is no public operation`);
    if (headers.has(row.operation)) faults.push(`${row.operation} is listed twice`);
    if (!URL.canParse(row.link)) faults.push(`${row.operation}: link is no absolute URL`);
    if (from === null || until === null) {
      faults.push(`${row.operation}: dates are real days written YYYY-MM-DD`);
      continue;
    }
    if (until - from < EDGE_LIMITS.deprecationNoticeDays * DAY_MS)
      faults.push(`${row.operation}: sunset is less than ${EDGE_LIMITS.deprecationNoticeDays} days after deprecation`);
    headers.set(row.operation, [
      'Deprecation',
      new Date(from).toUTCString(),
      'Sunset',
      new Date(until).toUTCString(),
      'Link',
      `<${row.link}>; rel="deprecation"; type="text/html"`,
    ]);
  }
  if (faults.length > 0) throw new Error(`The deprecation table is wrong: ${faults.join('; ')}.`);
  return headers;
}

function parseDay(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const time = Date.parse(`${text}T00:00:00.000Z`);
  // Date.parse turns 2026-02-30 into a day in March; a real day gives the same text again.
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text ? null : time;
}
