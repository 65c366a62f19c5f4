import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';

export interface ServiceMetrics {
  keyResolved(isKnown: boolean): void;
  personCreated(): void;
}

export function serviceMetrics(registry: Registry): ServiceMetrics {
  const registers = [registry];
  const keys = new Counter({
    name: 'wts_api_key_lookups_total',
    help: 'Look-ups of API keys. Many unknown ones mean that keys are guessed, or that a revoked key is still in use.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const people = new Counter({
    name: 'wts_people_created_total',
    help: 'People created at the first request of their identity.',
    registers,
  });
  return {
    keyResolved: (isKnown) => keys.inc({ outcome: isKnown ? 'known' : 'unknown' }),
    personCreated: () => people.inc(),
  };
}
