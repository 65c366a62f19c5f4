import { LIMITS } from '@wts/contracts';
import {
  callerSettings,
  type ConfigOf,
  credentialSettings,
  databaseSettings,
  defineSettings,
  natsSettings,
  poolMaxSetting,
  refuseCaFile,
  refusalOf,
  replaySettings,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';
import { parseCells, type CellSetting } from './domain/cells-setting.ts';
import { parseProvider, type ProviderSetting } from './domain/provider-setting.ts';
import { parseSender, parseSmtpUrl } from './domain/smtp-setting.ts';
import { parseSecretKeys } from '@wts/service-kit/sealing';

const DAY_MS = 24 * 60 * 60_000;
export const database = databaseSettings('wts_auth');

/** What the service and `seed.ts` need: the database and the sync service, which they call. */
export const storeSettings = {
  ...callerSettings,
  ...database,
  syncUrls: setting.urls('SYNC_SERVICE_URL', { doc: 'Addresses of the sync service, which commits every new person.' }),
  apiKeyPrefix: credentialSettings.apiKeyPrefix,
};

export type Config = ConfigOf<typeof settings>;

export const settings = defineSettings({
  ...serviceSettings,
  ...replaySettings,
  ...storeSettings,
  baseUrl: credentialSettings.baseUrl,
  authUrl: credentialSettings.authUrl,
  secretKey: setting.text('AUTH_SECRET_KEY', {
    secret: true,
    refuse: refusalOf(parseSecretKeys),
    doc: 'Encrypts the keys that sign access tokens, and the secrets of authenticator apps: 32 random bytes in base64, or several keys separated by commas, each `key` or `name:key`; the first encrypts, all decrypt. `npm run secrets -- rotate auth-key` changes it without an outage, see infra/docs/security.md.',
  }),
  keyRotationMs: setting.durationMs('SIGNING_KEY_ROTATION_MS', {
    default: 30 * DAY_MS,
    min: DAY_MS,
    max: 365 * DAY_MS,
    doc: 'How long a key signs access tokens before the next one does. An old key stays published until its last token has expired.',
  }),
  refreshGraceMs: setting.durationMs('REFRESH_TOKEN_GRACE_MS', {
    default: 0,
    max: 10 * 60_000,
    doc: 'How long a refresh token that was replaced may be used again, while its successor is unused; the answer has the same successor. 0: a second use revokes the grant. Set it for clients with several processes that share their tokens and refresh at the same time.',
  }),
  hasClientDocuments: setting.flag('CLIENT_ID_METADATA_DOCUMENTS', {
    default: false,
    doc: 'Accepts the https address of a document with the metadata of a client as its client_id, besides registered clients. This service then fetches such documents from public addresses.',
  }),
  clientRegistration: setting.oneOf('CLIENT_REGISTRATION', ['open', 'closed'], {
    default: 'open',
    doc: 'Whether programs may register themselves as clients of OAuth, as agents do. `closed`: only clients that an operator registers with `wts admin client add` can be connected from then on, also of those with CLIENT_ID_METADATA_DOCUMENTS; clients that are registered already stay, see `wts admin client list`.',
  }),
  apiKeysPerMinuteMax: setting.int('API_KEYS_PER_MINUTE', {
    default: LIMITS.apiKeysPerMinuteMax,
    min: 1,
    max: 1_000_000,
    doc: 'API keys that one person creates in a minute, over REST, GraphQL and the pages together, also of keys that are revoked already.',
  }),
  workspaceUrls: setting.urls('WORKSPACE_SERVICE_URL', {
    doc: 'Addresses of the workspace service, which keeps invitations.',
  }),
  hasAccounts: setting.flag('ACCOUNTS', {
    default: true,
    doc: 'Whether people may have an account with a password here. Set it to off when everyone signs in at OIDC_PROVIDER: sessions that began with a password end at once, and the apps that these people connected within ten minutes; their API keys stay.',
  }),
  secondFactor: setting.oneOf('SECOND_FACTOR', ['optional', 'required'], {
    default: 'optional',
    doc: 'Whether everyone who signs in with a password here needs a second factor (a passkey or an authenticator app). With `required`, a person without one gets only the page that adds one, and their API keys and apps are refused until then. Owners can require it for their workspace alone. People who sign in at OIDC_PROVIDER have their second factor there.',
  }),
  passwordCostLog2: setting.int('PASSWORD_COST_LOG2', {
    default: 17,
    min: 14,
    max: 20,
    doc: 'The cost of a password hash: scrypt with N = 2^this, r = 8, p = 1, which takes 2^(this + 10) bytes of memory. After a change, each hash is renewed at the next sign-in.',
  }),
  cells: setting.json<readonly CellSetting[], { doc: string; optional: true; secret: true }>('CELLS', {
    optional: true,
    secret: true,
    read: parseCells,
    doc: 'The cells of an installation that has several, see infra/docs/cells.md: [{"shard":0,"baseUrl":"https://…","syncUrls":["http://…"],"workspaceUrls":["http://…"],"dispatcherUrls":["http://…"],"natsUrl":"nats://…"}]. New people are created in cell 0. Without it there is one, of BASE_URL, SYNC_SERVICE_URL, WORKSPACE_SERVICE_URL and NATS_URL.',
  }),
  provider: setting.json<ProviderSetting, { doc: string; optional: true; secret: true }>('OIDC_PROVIDER', {
    optional: true,
    secret: true,
    read: parseProvider,
    doc: 'OpenID provider at which people sign in: {issuer, clientId, clientSecret?, name, scopes?, trustsEmails?, allowedCidrs?}. `name` is the text of its button. The issuer may have a private address; an endpoint that its metadata names at another host, port or scheme must be public, or in `allowedCidrs`, for example ["10.1.0.0/16"]. Register {AUTH_URL}/sign-in/callback there as the redirect URI. For a provider that is in JWT_ISSUERS too, a person is the same.',
  }),
  recordDays: setting.int('SECURITY_RECORD_DAYS', {
    default: 400,
    min: 1,
    max: 3650,
    doc: 'Days that the security record is kept: sign-ins, keys, apps and what operators did. Older events are deleted, ten thousand in ten minutes.',
  }),
  smtpUrl: setting.text('SMTP_URL', {
    optional: true,
    secret: true,
    refuse: refusalOf(parseSmtpUrl),
    doc: 'Mail server: smtps://user:password@host:465, or smtp://host:587 with STARTTLS, which is required except at a loopback address; ?tls=off sends clear text to a server that you trust the network to. Without it no mail is sent: people join by invitation codes, no address is verified, and the operator gives links for forgotten passwords.',
  }),
  mailFrom: setting.text('MAIL_FROM', {
    optional: true,
    refuse: refusalOf(parseSender),
    doc: 'Sender of mails, as an address or `Name <address>`. Default: no-reply@ the host of AUTH_URL.',
  }),
  smtpExtraCaFile: setting.text('SMTP_EXTRA_CA_FILE', {
    optional: true,
    refuse: refuseCaFile,
    doc: 'PEM file of certificate authorities that the mail server may have besides the public ones.',
  }),
  ...natsSettings('NATS server, which announces revoked credentials to all caches.'),
  poolMax: poolMaxSetting(),
});
