import type { Attacker } from './attacker.ts';
import { READING_ATTACKS } from './reading-attacks.ts';
import { WRITING_ATTACKS } from './writing-attacks.ts';

/** Creates the data that the attack needs through the public API, and returns the attack, which runs until stopped. */
export type Attack = (attacker: Attacker) => Promise<(stop: AbortSignal) => Promise<void>>;

/** Every attack that once slowed or stopped the service for other people, or read data without access. */
export const ATTACKS = { ...READING_ATTACKS, ...WRITING_ATTACKS } satisfies { readonly [name: string]: Attack };

export type AttackName = keyof typeof ATTACKS;

export const ATTACK_NAMES = Object.keys(ATTACKS) as readonly AttackName[];
