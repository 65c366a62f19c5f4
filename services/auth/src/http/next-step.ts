import type { Contract } from '@wts/contracts';
import type { NextStep } from '../commands/begin-second-step.ts';
import type { Site } from '../pages/layout.ts';
import type { Parameters } from './parameters.ts';

/** What people come for: its page, and the parameter that names it there. */
const STEPS: Readonly<Record<keyof NextStep, readonly [path: string, parameter: string]>> = {
  request: ['/consent', 'request'],
  connect: ['/account/connect/decision', 'request'],
  invitation: ['/join', 'code'],
};
const NAMES = Object.keys(STEPS) as (keyof NextStep)[];

/** What the person does after the sign-in: only what this site knows, never an address from outside. */
export function nextOf(from: Parameters): NextStep {
  return { request: from.get('request'), connect: from.get('connect'), invitation: from.get('invitation') };
}

export function destinationOf(site: Site, next: NextStep): string {
  for (const name of NAMES) {
    const [path, parameter] = STEPS[name];
    const value = next[name];
    if (value !== undefined) return site.url(path, { [parameter]: value });
  }
  return site.url('/account');
}

/** The page that adds a second factor, from which the person goes on to what they came for. */
export function enrolAddress(site: Site, { path }: Contract, query: Parameters): string {
  const next = NAMES.find((name) => STEPS[name][0] === path);
  const value = next && query.get(STEPS[next][1]);
  return site.url('/account/second-factor', next && value !== undefined ? { [next]: value } : undefined);
}
