import type { Attacker } from './attacker.ts';
import { READING_ATTACKS } from './reading-attacks.ts';
import { WRITING_ATTACKS } from './writing-attacks.ts';

/** Makes what the attack needs, by ordinary means, and returns the attack: it lasts until stopped. */
export type Attack = (attacker: Attacker) => Promise<(stop: AbortSignal) => Promise<void>>;

/** Everything known to have taken the system from the others, or to have opened what is not for them. */
export const ATTACKS = { ...READING_ATTACKS, ...WRITING_ATTACKS } satisfies { readonly [name: string]: Attack };

export type AttackName = keyof typeof ATTACKS;

export const ATTACK_NAMES = Object.keys(ATTACKS) as readonly AttackName[];
