import { issuerOf, parseIssuers, type Issuer } from '@wts/access';
import { defineSettings, refusalOf, setting } from './settings.ts';

/**
 * Settings of the services that check credentials, which spread these into their own: with different values, one service would
 * refuse a credential that another accepts.
 */
export const credentialSettings = defineSettings({
  apiKeyPrefix: setting.text('API_KEY_PREFIX', {
    default: 'wts_',
    // `observe/scrub.ts` finds keys in log lines by this pattern.
    pattern: /^[A-Za-z][A-Za-z0-9]{0,6}_$/,
    doc: 'Prefix of every API key, the same for all services: a letter, then letters or digits, then an underscore; at most 8 characters. Keys with another prefix are refused.',
  }),
  baseUrl: setting.url('BASE_URL', {
    default: 'http://localhost:4000',
    doc: 'Public address of the API, the same for all services. Access tokens of OAuth are for it. With https the gateway sends HSTS.',
  }),
  authUrl: setting.url('AUTH_URL', {
    default: 'http://localhost:4001',
    refuse: refusalOf(issuerOf),
    doc: 'Public address of the authorization origin, the same for all services: the issuer of access tokens of OAuth. It may have a path, which a proxy removes.',
  }),
  issuers: setting.json<Issuer[], { doc: string; default: Issuer[]; secret: true }>('JWT_ISSUERS', {
    default: [],
    secret: true,
    read: parseIssuers,
    doc: 'Identity providers whose tokens are accepted, the same for all services: [{issuer, audiences, algorithms, secret | jwksUri, types?, trustsEmails?}]. `secret` may be a list of two, of which each is accepted, to change it without an outage. Set trustsEmails to true (default false) when the provider verifies every address: then an address without the claim email_verified redeems invitations too.',
  }),
});
