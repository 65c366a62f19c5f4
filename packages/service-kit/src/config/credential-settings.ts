import { parseIssuers } from '@wts/access';
import type { Issuer } from '@wts/access';
import { defineSettings, setting } from './settings.ts';

/**
 * By what credentials are told apart and believed. Services that look at credentials spread these into their own settings:
 * where two of them differed, one would refuse whom the other lets in.
 */
export const credentialSettings = defineSettings({
  apiKeyPrefix: setting.text('API_KEY_PREFIX', {
    default: 'wts_',
    // What logs know a key by, to leave it out: `observe/scrub.ts`.
    pattern: /^[A-Za-z][A-Za-z0-9]{0,6}_$/,
    doc: 'First characters of every API key, the same for all services: a letter, letters and digits, an underscore; at most 8.',
  }),
  issuers: setting.json<Issuer[], { doc: string; default: Issuer[]; secret: true }>('JWT_ISSUERS', {
    default: [],
    secret: true,
    read: parseIssuers,
    doc: 'Identity providers whose tokens are accepted, the same for all services: [{issuer, audiences, algorithms, secret | jwksUri, types?, trustsEmails?}]. `trustsEmails: true` (default false): the provider verifies every address it gives, so that one from a token without the claim email_verified redeems invitations too.',
  }),
});
