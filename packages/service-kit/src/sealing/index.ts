export { parseSecretKeys, sealSecret, unsealSecret } from './secret-keys.ts';
export type { SealedSecret, SecretKeys } from './secret-keys.ts';
