import type { CommandSpec } from '../spec.ts';
import { verbsOf } from './verbs.ts';

export const LOGIN: CommandSpec = {
  name: 'login',
  summary: 'Sign in to a service, and store an API key for it',
  about:
    'Opens a page of the service, where you choose the access, the workspace and the end of the key. The key is sent to this service only.',
  examples: [
    { command: 'wts login https://api.example.com', prints: 'Signed in  Demo Owner <demo@example.com>' },
    { command: 'wts login https://api.example.com --no-browser' },
    { command: 'wts login https://api.example.com --with-token < key.txt' },
  ],
  args: [{ form: '[address]', about: 'The address of the API. Default: that of WTS_URL or of the profile.' }],
  options: [
    { flags: '--no-browser', about: 'For a machine without a browser: enter the code that the page shows elsewhere.' },
    { flags: '--with-token', about: 'Read an API key that you have from stdin.' },
    { flags: '--permissions <access>', about: 'What the key may do.', choices: ['read-only', 'full-access'] },
    { flags: '--read-only', about: 'As --permissions read-only.' },
    {
      flags: '--credential-store <store>',
      about: 'Where the key is stored. Default: keyring, or WTS_CREDENTIAL_STORE.',
      choices: ['keyring', 'file'],
    },
  ],
  fields: [
    'profile',
    'url',
    'authUrl',
    'userId',
    'name',
    'email',
    'store',
    'keyId',
    'access',
    'expiresAt',
    'workspace',
  ],
  load: async () => (await import('../../commands/login.ts')).login,
};

export const LOGOUT: CommandSpec = {
  name: 'logout',
  summary: 'Revoke the key of a login, and forget it',
  about: 'A key that was given by --with-token is forgotten and not revoked, because other programs may use it.',
  examples: [{ command: 'wts logout', prints: 'Signed out of https://api.example.com.' }],
  fields: ['profile'],
  load: async () => (await import('../../commands/logout.ts')).logout,
};

export const AUTH: CommandSpec = {
  name: 'auth',
  summary: 'Show how you are signed in',
  commands: verbsOf({}, () => import('../../commands/auth-status.ts'), {
    status: {
      summary: 'Show the profiles, and where their keys are stored',
      about: 'Sends nothing. wts whoami asks the service.',
      examples: [{ command: 'wts auth status' }],
      fields: ['profile', 'isUsed', 'url', 'person', 'key', 'access', 'expiresAt', 'storedIn'],
    },
  }),
};

export const API_KEY: CommandSpec = {
  name: 'api-key',
  summary: 'Manage your personal API keys',
  commands: verbsOf({}, () => import('../../commands/api-key.ts'), {
    create: {
      summary: 'Create an API key, and print it once',
      examples: [
        { command: 'wts api-key create ci --permissions read-only', prints: 'wts_0Ab1Cd2E…' },
        { command: 'wts api-key create deploy --permissions full-access --workspace acme --days 90' },
      ],
      args: [{ form: '<label...>', about: 'What the key is for.' }],
      options: [
        { flags: '--permissions <access>', about: 'What the key may do.', choices: ['read-only', 'full-access'] },
        { flags: '--days <number>', about: 'When it expires. Default: never.' },
      ],
      fields: [
        'id',
        'label',
        'keyPrefix',
        'permissions',
        'workspaceId',
        'expiresAt',
        'createdAt',
        'lastUsedAt',
        'token',
      ],
    },
    list: {
      summary: 'List your API keys; with --workspace, those for this workspace alone',
      fields: [
        'id',
        'label',
        'keyPrefix',
        'permissions',
        'workspaceId',
        'expiresAt',
        'createdAt',
        'createdBy',
        'lastUsedAt',
      ],
      examples: [
        {
          command: 'wts api-key list',
          prints:
            'ID        LABEL  KEY            ACCESS     WORKSPACE  EXPIRES     USED\n36734788  ci     wts_LAetQTel…  read-only  all        2027-01-26  2026-11-26',
        },
      ],
    },
    revoke: {
      summary: 'Revoke an API key',
      examples: [{ command: 'wts api-key revoke ci', prints: 'Revoked ci. It stops working within a second.' }],
      args: [{ form: '<key>', about: 'Its label, its id, or the beginning of its id or of the key.' }],
      options: [
        { flags: '--include-made', about: 'Also revoke the keys that were made with it. For a key that leaked.' },
      ],
      fields: ['id'],
    },
  }),
};

export const DOCTOR: CommandSpec = {
  name: 'doctor',
  summary: 'Find out what stands between this machine and the service',
  about:
    'Checks the settings, the proxy, both addresses of the service, the clock, the certificate, the key and its access.',
  examples: [{ command: 'wts doctor' }],
  fields: ['check', 'state', 'text'],
  load: async () => (await import('../../commands/doctor.ts')).doctor,
};
