/** Which requests that enter the system are recorded, by the names of OpenTelemetry. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TraceSampling {
  readonly sampler: (typeof SAMPLERS)[number];
  /** Of `traceidratio`: the share that is recorded. */
  readonly ratio: number;
}

export function parseRatio(text: string): number {
  const ratio = /^\d(?:\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(ratio >= 0 && ratio <= 1)) throw new Error('must be a number from 0 to 1');
  return ratio;
}
