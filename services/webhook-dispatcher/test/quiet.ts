import type { BackgroundContext } from '@wts/service-kit/background';
import { createLogger, Readiness } from '@wts/service-kit/observe';
import { Registry } from 'prom-client';

export const quiet = createLogger({ name: 'test', level: 'silent' });

export const testContext = (): BackgroundContext & { readonly readiness: Readiness } => ({
  name: 'test',
  log: quiet,
  metrics: new Registry(),
  readiness: new Readiness(quiet),
});
