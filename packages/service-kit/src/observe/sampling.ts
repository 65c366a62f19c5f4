import type * as Sdk from '@opentelemetry/sdk-trace';

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

/** A parent is one of a trusted proxy; all others are only linked. */
export function samplerOf({ sampler, ratio }: TraceSampling, sdk: typeof Sdk): Sdk.Sampler {
  const [, parentBased, name] = /^(parentbased_)?(.*)$/.exec(sampler) ?? [];
  const root =
    name === 'always_on'
      ? new sdk.AlwaysOnSampler()
      : name === 'always_off'
        ? new sdk.AlwaysOffSampler()
        : new sdk.TraceIdRatioBasedSampler(ratio);
  return parentBased === undefined ? root : new sdk.ParentBasedSampler({ root });
}
