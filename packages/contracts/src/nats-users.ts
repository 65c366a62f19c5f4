import { STREAM, type LogStream } from './actions.ts';

/** The users of NATS: services, the audit (`npm run verify:log`), an operator. */
export const NATS_USERS = ['gateway', 'workspace', 'auth', 'sync', 'webhook-dispatcher', 'verify', 'admin'] as const;
export type NatsUser = (typeof NATS_USERS)[number];

export interface NatsPermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** The first part of the subjects of replies to a user of the server: no other user may receive them. Keeps never.nats. */
export function natsInbox(username: string): string {
  return `_INBOX_${username.replaceAll(/[^\w-]/g, '_')}`;
}

/** The name that a user has on the server. */
export function natsUsername(user: NatsUser): string {
  return `wts_${user}`;
}

const repliesTo = (user: NatsUser): string => `${natsInbox(natsUsername(user))}.>`;
const reading = ({ name }: LogStream): string[] => [`$JS.API.STREAM.INFO.${name}`, `$JS.API.STREAM.MSG.GET.${name}`];
/**
 * Depending on the version of the server, the client library or the server names a consumer. Who may create one may also name any
 * subject that it delivers to, so only sync may.
 */
const following = ({ name }: LogStream): string[] => [
  `$JS.API.CONSUMER.CREATE.${name}`,
  `$JS.API.CONSUMER.CREATE.${name}.>`,
  `$JS.API.CONSUMER.DELETE.${name}.>`,
  // The reply to flow control of the server.
  `$JS.FC.${name}.>`,
];

/**
 * The subjects that each user may publish and receive, from which infra/nats/users.conf is generated. Only sync may publish entries,
 * only the workspace and auth services revocations, only gateways counts. Only sync has consumers, and a reply reaches only the user
 * that asked. None of them may delete or purge the stream.
 */
export function natsPermissions(of: LogStream): Readonly<Record<NatsUser, NatsPermissions>> {
  return {
    gateway: { publish: [STREAM.rates], subscribe: [STREAM.rates, STREAM.revoked] },
    workspace: { publish: [STREAM.revoked], subscribe: [] },
    auth: { publish: [STREAM.revoked], subscribe: [] },
    sync: {
      publish: [
        of.subject,
        of.handover,
        of.replicas,
        of.committed,
        ...reading(of),
        ...following(of),
        `$JS.API.STREAM.CREATE.${of.name}`,
        `$JS.API.STREAM.UPDATE.${of.name}`,
      ],
      subscribe: [of.handover, of.replicas, of.followers, STREAM.revoked, repliesTo('sync')],
    },
    'webhook-dispatcher': { publish: [of.followers, of.webhooks], subscribe: [of.committed, of.webhooks] },
    verify: { publish: ['$JS.API.INFO', ...reading(of)], subscribe: [repliesTo('verify')] },
    admin: { publish: ['>'], subscribe: ['>'] },
  };
}

/** The environment variable of the server with the password of a user in infra/nats/users.conf. */
export function natsPasswordVariable(user: NatsUser): string {
  return `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`;
}

/** The text of infra/nats/users.conf, to be included in the `authorization` of a server. */
export function natsUsersConfiguration(of: LogStream = STREAM): string {
  const permissions = natsPermissions(of);
  const users = NATS_USERS.map((user) => {
    const { publish, subscribe } = permissions[user];
    return [
      '  {',
      `    user: ${natsUsername(user)}`,
      `    password: $${natsPasswordVariable(user)}`,
      '    permissions {',
      `      publish: ${ruleOf(publish)}`,
      `      subscribe: ${ruleOf(subscribe)}`,
      '    }',
      '  }',
    ].join('\n');
  });
  return `${HEAD}users: [\n${users.join('\n')}\n]\n`;
}

/** The table of users in infra/nats/README.md. The subjects of JetStream are left out: users.conf has them. */
export function natsUsersTable(): string {
  const permissions = natsPermissions(STREAM);
  const rows = NATS_USERS.map((user) => {
    const { publish, subscribe } = permissions[user];
    return `| \`${natsUsername(user)}\` | \`${natsPasswordVariable(user)}\` | ${cellOf(publish)} | ${cellOf(subscribe)} |`;
  });
  return ['| user | variable with its password | publishes | receives |', '|---|---|---|---|', ...rows].join('\n');
}

function cellOf(subjects: readonly string[]): string {
  if (subjects.includes('>')) return 'everything';
  const own = subjects.filter((subject) => subject.startsWith('wts.')).map((subject) => `\`${subject}\``);
  const stream = subjects.some((subject) => subject.startsWith('$JS.')) ? ['requests to JetStream'] : [];
  const replies = subjects.some((subject) => subject.startsWith('_INBOX')) ? ['own replies'] : [];
  return [...own, ...stream, ...replies].join(', ') || 'nothing';
}

const HEAD = `# Who may publish and receive what on NATS. Made by \`npm run settings\` from packages/contracts/src/nats-users.ts.
# See README.md beside this file for how a server takes it.
`;

/** An empty list would mean everything. */
function ruleOf(subjects: readonly string[]): string {
  if (subjects.length === 0) return '{ deny: [">"] }';
  return `{ allow: [${subjects.map((subject) => JSON.stringify(subject)).join(', ')}] }`;
}
