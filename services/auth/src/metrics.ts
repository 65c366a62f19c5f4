import { metricsOf } from '@wts/service-kit/observe';
import type { Registry } from 'prom-client';

/** How someone tried to sign in, and what came of it. A second factor follows a right password. */
export type SignInWay = 'password' | 'second factor' | 'passkey' | 'provider';
export type SignInOutcome = 'right' | 'wrong' | 'throttled';

export type ServiceMetrics = ReturnType<typeof serviceMetrics>;

export function serviceMetrics(registry: Registry) {
  const { counter } = metricsOf(registry);
  const keys = counter(
    'wts_api_key_lookups_total',
    'Look-ups of API keys. Many unknown ones mean that keys are guessed, or that a revoked key is still in use.',
    'outcome',
  );
  const people = counter('wts_people_created_total', 'People created at the first request of their identity.');
  const signIns = counter(
    'wts_sign_ins_total',
    'Sign-ins on the pages. Many wrong or throttled ones mean that passwords are guessed.',
    'way',
    'outcome',
  );
  const events = counter(
    'wts_security_events_total',
    'Events of the security record. Those left out were too many of people who are not known.',
    'kind',
    'outcome',
  );
  return {
    signIn: (way: SignInWay, outcome: SignInOutcome) => signIns.inc({ way, outcome }),
    /** Events of the security record. `left_out`: strangers caused too many of its kind. */
    event: (kind: string, outcome: 'written' | 'left_out') => events.inc({ kind, outcome }),
    keyResolved: (isKnown: boolean) => keys.inc({ outcome: isKnown ? 'known' : 'unknown' }),
    personCreated: () => people.inc(),
  };
}
