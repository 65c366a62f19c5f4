import type { ArgSpec, CommandSpec } from '../spec.ts';
import { LIMIT } from './options.ts';
import { verbsOf } from './verbs.ts';

const PERSON: ArgSpec = { form: '<person>', about: 'A name, an address or an id.' };
const WORKSPACE: ArgSpec = { form: '<workspace>', about: 'A name, key or id.' };
const TEXT: ArgSpec = { form: '[text...]', about: 'A part of a name or an address, or an id.' };
const PERSON_FIELDS = ['userId', 'name', 'email', 'createdAt', 'disabledAt', 'erasedAt', 'lastSeenAt', 'workspaces'];
const DETAIL_FIELDS = [
  ...PERSON_FIELDS,
  'account',
  'secondFactors',
  'identities',
  'memberships',
  'sessions',
  'keys',
  'apps',
];
const WORKSPACE_FIELDS = ['id', 'name', 'urlKey', 'members', 'owners', 'createdAt', 'archivedAt', 'cell'];
const MOVE_FIELDS = [
  'id',
  'workspaceId',
  'name',
  'urlKey',
  'from',
  'to',
  'state',
  'step',
  'records',
  'problem',
  'createdAt',
  'endedAt',
];
const CLIENT_FIELDS = [
  'clientId',
  'name',
  'redirectUris',
  'authMethod',
  'isByOperator',
  'grants',
  'createdAt',
  'lastUsedAt',
];

const people = () => import('../../commands/admin-person.ts');
const workspaces = () => import('../../commands/admin-workspace.ts');

const PEOPLE: CommandSpec = {
  name: 'person',
  summary: 'Find people, and help, stop or erase one',
  implied: 'show',
  commands: [
    ...verbsOf({ args: [PERSON], fields: DETAIL_FIELDS }, people, {
      list: {
        summary: 'List or find people',
        args: [TEXT],
        options: [LIMIT],
        examples: [{ command: 'wts admin person list ada@example.com' }],
        fields: PERSON_FIELDS,
      },
      show: {
        summary: 'Show a person with everything by which they sign in',
      },
      resetLink: {
        summary: 'Print a link by which a person chooses a new password',
        about: 'It works once and for 30 minutes. Give it to them alone: it is as good as the password.',
        fields: ['url', 'expiresAt'],
      },
      disable: {
        summary: 'End everything of a person within a second, and refuse their sign-ins',
        examples: [{ command: 'wts admin person disable ada@example.com', prints: 'Disabled Ada Lovelace' }],
      },
      enable: {
        summary: 'Let a disabled person sign in again; their API keys work again',
      },
      endSessions: {
        summary: 'Sign a person out everywhere and end their apps; API keys stay',
      },
      removeFactors: {
        summary: 'Remove the second factors of a person who lost them',
        about:
          'The password alone is enough then. Be sure who asks: a stranger with the password may pretend to be them.',
      },
    }),
    ...verbsOf({ args: [PERSON] }, people, {
      exportData: {
        name: 'export',
        summary: 'Write everything that is stored of a person, one JSON object a line',
        options: [{ flags: '--to <file>', about: 'A new file. Default: stdout.' }],
      },
      erase: {
        summary: 'Erase a person; prints what stays',
        about:
          'Removes them from all workspaces, and deletes their profile, account, sessions, keys and apps for good.',
        fields: ['stays'],
      },
    }),
  ],
};

const WORKSPACES: CommandSpec = {
  name: 'workspace',
  summary: 'Find workspaces, delete or restore one, give it an owner',
  commands: [
    ...verbsOf({ args: [WORKSPACE], fields: WORKSPACE_FIELDS }, workspaces, {
      list: {
        summary: 'List or find workspaces',
        args: [TEXT],
        options: [LIMIT],
      },
      remove: {
        summary: 'Delete a workspace, as its owners can',
      },
      restore: {
        summary: 'Restore a deleted workspace',
      },
      addOwner: {
        summary: 'Make a person an owner of a workspace whose owners left',
        args: [WORKSPACE, PERSON],
      },
    }),
    ...verbsOf({ fields: MOVE_FIELDS }, () => import('../../commands/admin-move.ts'), {
      move: {
        summary: 'Move a workspace to another cell, in an installation of several',
        about:
          'People work on meanwhile; for a second or two their changes wait. It goes on when this command is interrupted. Every id stays.',
        args: [WORKSPACE],
        options: [
          { flags: '--to <cell>', about: 'The number of the cell.' },
          { flags: '--cancel', about: 'Give up its move, until it is in the other cell.' },
        ],
        examples: [{ command: 'wts admin workspace move acme --to 1', prints: 'Moved Acme (acme) to cell 1' }],
      },
      moves: {
        summary: 'List moves of workspaces, the newest first',
        options: [LIMIT],
      },
    }),
  ],
};

const CLIENTS: CommandSpec = {
  name: 'client',
  summary: 'Manage the clients of OAuth, where CLIENT_REGISTRATION is closed',
  commands: verbsOf({}, () => import('../../commands/admin-client.ts'), {
    list: {
      summary: 'List or find clients, newest first',
      args: [TEXT],
      options: [LIMIT],
      fields: CLIENT_FIELDS,
    },
    add: {
      summary: 'Register a client, or allow one by the address of its document',
      args: [{ form: '<name>', about: 'Its name, or the https address of its document.' }],
      options: [
        { flags: '--redirect-uri <uri>', about: 'Where people are sent back to.', isRepeated: true },
        { flags: '--with-secret', about: 'It is a server, and gets a secret.' },
      ],
      examples: [
        { command: 'wts admin client add Notes --redirect-uri http://127.0.0.1/callback' },
        { command: 'wts admin client add https://claude.ai/oauth/client.json' },
      ],
      fields: ['client_id', 'client_secret', 'client_name', 'redirect_uris'],
    },
    remove: {
      summary: 'Delete a client, which ends what people allowed it',
      args: [{ form: '<client>', about: 'Its id.' }],
      fields: ['endedGrants'],
    },
  }),
};

export const ADMIN: CommandSpec = {
  name: 'admin',
  summary: 'Operate the service: first owner, people, workspaces, clients',
  about:
    'For the operator of an installation, by WTS_OPERATOR_TOKEN. A token is made on the machine of the service: node services/auth/src/operator.ts token create <label>. In a checkout, npm run admin has that of npm start.',
  examples: [
    { command: 'wts admin owner add ada@example.com --name "Ada Lovelace" --workspace-name Acme --key acme' },
    { command: 'wts admin person disable ada@example.com' },
    { command: 'wts admin usage' },
  ],
  commands: [
    {
      name: 'owner',
      summary: 'Create the first owner',
      commands: verbsOf({}, people, {
        addOwner: {
          name: 'add',
          summary: 'Create a workspace with its owner, and print the link by which they choose a password',
          about: 'Repeated, it creates nothing again, and prints another link.',
          args: [{ form: '<address>', about: 'Their e-mail address.' }],
          options: [
            { flags: '--name <text>', about: 'Their name.' },
            { flags: '--workspace-name <text>', about: 'The name of the workspace.' },
            { flags: '--key <key>', about: 'The short name of the workspace in addresses, such as acme.' },
          ],
          fields: ['userId', 'workspaceId', 'link'],
        },
      }),
    },
    PEOPLE,
    WORKSPACES,
    CLIENTS,
    ...verbsOf({}, workspaces, {
      usage: {
        summary: 'Count people, workspaces and tasks, and the size of the database',
        fields: [
          'people',
          'peopleDisabled',
          'peopleActive',
          'workspaces',
          'workspacesDeleted',
          'tasks',
          'databaseBytes',
        ],
      },
    }),
  ],
};
