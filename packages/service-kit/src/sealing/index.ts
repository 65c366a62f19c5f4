export { reseal, type SealedTable } from './reseal.ts';
export { parseSecretKeys, sealSecret, unsealSecret, type SealedSecret, type SecretKeys } from './secret-keys.ts';
