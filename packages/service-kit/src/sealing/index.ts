export { reseal } from './reseal.ts';
export type { SealedTable } from './reseal.ts';
export { parseSecretKeys, sealSecret, unsealSecret } from './secret-keys.ts';
export type { SealedSecret, SecretKeys } from './secret-keys.ts';
