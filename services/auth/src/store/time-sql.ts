/** A time of the database as answers have it, or to the microsecond. */
export function timeSql(value: string, fraction: 'MS' | 'US' = 'MS'): string {
  return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${fraction}"Z"')`;
}
