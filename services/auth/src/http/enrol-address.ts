import { authorizeApi, connectApi, pageApi, type Contract } from '@wts/contracts';
import type { Parameters } from './parameters.ts';

/** Of the pages that a person comes to for something, the parameter that names it there, and the one of the pages that lead on. */
const STEPS: Readonly<Record<string, readonly [here: string, next: string]>> = {
  [authorizeApi.consentPage.id]: ['request', 'request'],
  [connectApi.decisionPage.id]: ['request', 'connect'],
  [pageApi.joinPage.id]: ['code', 'invitation'],
};

/** The page that adds a second factor, from which the person goes on to what they came for. */
export function enrolAddress({ id }: Contract, query: Parameters): string {
  const [here = '', next = ''] = STEPS[id] ?? [];
  const value = query.get(here);
  const path = '/account/second-factor';
  return value === undefined ? path : `${path}?${new URLSearchParams([[next, value]]).toString()}`;
}
