import type { Attack } from './attacker.ts';
import { ACCOUNT_ATTACKS, ACCOUNTS } from './account-attacks.ts';
import { READING_ATTACKS } from './reading-attacks.ts';
import { WRITING_ATTACKS } from './writing-attacks.ts';

/** Every attack that once slowed or stopped the service for other people, or read data without access. */
export const ATTACKS = { ...READING_ATTACKS, ...WRITING_ATTACKS, ...ACCOUNT_ATTACKS } satisfies {
  readonly [name: string]: Attack;
};

export type AttackName = keyof typeof ATTACKS;

/** How many accounts an attack needs. */
export const ACCOUNTS_OF: { readonly [name in AttackName]?: number } = Object.fromEntries(
  Object.keys(ACCOUNT_ATTACKS).map((name) => [name, ACCOUNTS]),
);

export const ATTACK_NAMES = Object.keys(ATTACKS) as readonly AttackName[];
