import { NATS_USERS, natsInbox, natsPermissions, natsUsername, STREAM, type NatsUser } from '@wts/contracts';
import assert from 'node:assert/strict';
import { AckPolicy, connect, createInbox, Events, type NatsConnection } from 'nats';
import { join } from 'node:path';
import { openNats, type NatsServer } from '../src/servers/nats.ts';
import { scratch } from './scratch.ts';

const SUBJECTS = [STREAM.subject, STREAM.handover, STREAM.committed, STREAM.revoked, STREAM.rates] as const;
/** Subjects that no service may use: requests to change or show streams, and inboxes of others. */
const FORBIDDEN = [
  `$JS.API.STREAM.DELETE.${STREAM.name}`,
  `$JS.API.STREAM.PURGE.${STREAM.name}`,
  `$JS.API.STREAM.MSG.DELETE.${STREAM.name}`,
  '$JS.API.STREAM.CREATE.OTHER',
  '$JS.API.STREAM.LIST',
  '$JS.API.CONSUMER.CREATE.OTHER',
  '$SYS.REQ.SERVER.PING',
  '_INBOX.other',
  ...NATS_USERS.map((user) => `${natsInbox(natsUsername(user))}.a.b`),
];
const inboxOf = (user: NatsUser): string => `${natsInbox(natsUsername(user))}.>`;
const SERVICES = NATS_USERS.filter((user) => user !== 'admin');

describe('the users of NATS', () => {
  let server: NatsServer;
  const connections = new Map<NatsUser, { connection: NatsConnection; refused: string[] }>();

  before(async () => {
    const directory = scratch();
    server = await openNats({
      directory: join(directory, 'data'),
      log: join(directory, 'log'),
      records: join(directory, 'run'),
      password: 'secret',
      env: process.env,
      throwaway: true,
    });
    for (const user of NATS_USERS) {
      const { username, password, host } = new URL(server.urlOf(user));
      const inboxPrefix = natsInbox(username);
      const connection = await connect({ servers: host, user: username, pass: password, inboxPrefix });
      const refused: string[] = [];
      void (async () => {
        for await (const { type, data } of connection.status())
          if (type === Events.Error) refused.push(JSON.stringify(data));
      })();
      connections.set(user, { connection, refused });
    }
  });
  after(async () => {
    for (const { connection } of connections.values()) await connection.close();
    await server[Symbol.asyncDispose]();
  });

  const of = (user: NatsUser): { connection: NatsConnection; refused: string[] } => connections.get(user)!;

  /** True when a message of this user reaches a subscriber with all permissions. */
  async function arrives(user: NatsUser, subject: string): Promise<boolean> {
    const { connection: subscriber } = of('admin');
    let has = false;
    const subscription = subscriber.subscribe(subject, { callback: () => (has = true) });
    await subscriber.flush();
    of(user).connection.publish(subject, 'x');
    await of(user).connection.flush();
    await subscriber.flush();
    subscription.unsubscribe();
    return has;
  }

  for (const subject of SUBJECTS) {
    it(`publish ${subject} only with that permission [never.shown-outside]`, async () => {
      for (const user of SERVICES)
        assert.equal(await arrives(user, subject), natsPermissions(STREAM)[user].publish.includes(subject), user);
    });

    it(`receive ${subject} only with that permission`, async () => {
      for (const user of SERVICES) {
        const { connection } = of(user);
        let has = false;
        connection.subscribe(subject, { callback: (error) => (has ||= error === null) }).unsubscribe(1);
        await connection.flush();
        of('admin').connection.publish(subject, 'x');
        await of('admin').connection.flush();
        await connection.flush();
        assert.equal(has, natsPermissions(STREAM)[user].subscribe.includes(subject), user);
      }
    });
  }

  it('cannot delete, purge or change the stream, create another one, or answer for others', async () => {
    for (const user of SERVICES)
      for (const subject of FORBIDDEN) assert.equal(await arrives(user, subject), false, `${user} ${subject}`);
  });

  it('cannot create, delete or read consumers of the stream, except sync [never.nats]', async () => {
    const manager = await of('admin').connection.jetstreamManager();
    await manager.streams.add({ name: STREAM.name, subjects: [STREAM.subject] });
    await manager.consumers.add(STREAM.name, { durable_name: 'hub', ack_policy: AckPolicy.None });
    const config = { name: 'spy', ack_policy: 'none', deliver_subject: STREAM.revoked };
    const requests: readonly (readonly [string, string])[] = [
      [`CONSUMER.CREATE.${STREAM.name}`, JSON.stringify({ stream_name: STREAM.name, config })],
      [`CONSUMER.CREATE.${STREAM.name}.spy`, JSON.stringify({ stream_name: STREAM.name, config })],
      [`CONSUMER.DURABLE.CREATE.${STREAM.name}.spy`, JSON.stringify({ stream_name: STREAM.name, config })],
      [`CONSUMER.DELETE.${STREAM.name}.hub`, ''],
      [`CONSUMER.PAUSE.${STREAM.name}.hub`, '{"pause_until":"2100-01-01T00:00:00Z"}'],
      [`CONSUMER.MSG.NEXT.${STREAM.name}.hub`, ''],
    ];
    for (const user of SERVICES.filter((name) => name !== 'sync')) {
      const { connection } = of(user);
      for (const [what, body] of requests) connection.publish(`$JS.API.${what}`, body);
      await connection.flush();
    }
    const consumers = await manager.consumers.list(STREAM.name).next();
    assert.deepEqual(
      consumers.map(({ name, paused = false }) => [name, paused]),
      [['hub', false]],
    );
    const own = await of('sync').connection.jetstreamManager({ checkAPI: false });
    const inbox = createInbox(natsInbox(natsUsername('sync')));
    // oxlint-disable-next-line typescript/no-deprecated -- as packages/log does
    const { name } = await own.consumers.add(STREAM.name, { ack_policy: AckPolicy.None, deliver_subject: inbox });
    assert.equal(await own.consumers.delete(STREAM.name, name), true);
    await manager.streams.delete(STREAM.name);
  });

  it('receive their own replies and those of no other user [never.nats]', async () => {
    for (const user of SERVICES) {
      const { connection } = of(user);
      for (const subject of ['_INBOX.>', '_INBOX.x', '>', ...NATS_USERS.map(inboxOf)]) {
        let has = false;
        const reply = subject.replace('>', 'a.b');
        const subscription = connection.subscribe(subject, { callback: (error) => (has ||= error === null) });
        await connection.flush();
        of('admin').connection.publish(reply, 'x');
        await of('admin').connection.flush();
        await connection.flush();
        subscription.unsubscribe();
        const mayReceive = subject === inboxOf(user) && ['sync', 'verify'].includes(user);
        assert.equal(has, mayReceive, `${user} ${subject}`);
      }
    }
  });

  it('cannot read the stream, except sync and the audit', async () => {
    for (const user of ['gateway', 'workspace'] as const) {
      const { connection, refused } = of(user);
      const inbox = createInbox();
      for (const what of ['STREAM.INFO', 'STREAM.MSG.GET', 'CONSUMER.CREATE', 'STREAM.UPDATE', 'CONSUMER.MSG.NEXT'])
        assert.equal(await arrives(user, `$JS.API.${what}.${STREAM.name}`), false, `${user} ${what}`);
      connection.subscribe(inbox, { callback: () => undefined });
      await connection.flush();
      assert.ok(
        refused.some((text) => /permission/i.test(text)),
        `${user} gets an error`,
      );
    }
  });
});
