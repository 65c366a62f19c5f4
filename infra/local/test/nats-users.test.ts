import { NATS_PERMISSIONS, NATS_USERS, STREAM } from '@wts/contracts';
import type { NatsUser } from '@wts/contracts';
import assert from 'node:assert/strict';
import { connect, createInbox, Events } from 'nats';
import type { NatsConnection } from 'nats';
import { join } from 'node:path';
import type { NatsServer } from '../src/servers/nats.ts';
import { openNats } from '../src/servers/nats.ts';
import { scratch } from './scratch.ts';

const SUBJECTS = [STREAM.subject, STREAM.handover, STREAM.revoked, STREAM.rates] as const;
/** What else somebody inside may try: the subjects by which a server is asked to change or show a stream. */
const ASKING = [
  `$JS.API.STREAM.DELETE.${STREAM.name}`,
  `$JS.API.STREAM.PURGE.${STREAM.name}`,
  `$JS.API.STREAM.MSG.DELETE.${STREAM.name}`,
  '$JS.API.STREAM.CREATE.OTHER',
  '$JS.API.STREAM.LIST',
  '$JS.API.CONSUMER.CREATE.OTHER',
  '$SYS.REQ.SERVER.PING',
  '_INBOX.somebody',
];
const SERVICES = NATS_USERS.filter((user) => user !== 'admin');

describe('the users of NATS', function () {
  this.timeout(30_000);
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
      const connection = await connect({ servers: host, user: username, pass: password });
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

  /** Whether what one publishes reaches somebody who may hear everything. */
  async function arrives(user: NatsUser, subject: string): Promise<boolean> {
    const { connection: listener } = of('admin');
    let has = false;
    const subscription = listener.subscribe(subject, { callback: () => (has = true) });
    await listener.flush();
    of(user).connection.publish(subject, 'x');
    await of(user).connection.flush();
    await listener.flush();
    subscription.unsubscribe();
    return has;
  }

  for (const subject of SUBJECTS) {
    it(`publish ${subject} only where it is theirs to say [never.shown-outside]`, async () => {
      for (const user of SERVICES)
        assert.equal(await arrives(user, subject), NATS_PERMISSIONS[user].publish.includes(subject), user);
    });

    it(`hear ${subject} only where they need it`, async () => {
      for (const user of SERVICES) {
        const { connection } = of(user);
        let has = false;
        connection.subscribe(subject, { callback: (error) => (has ||= error === null) }).unsubscribe(1);
        await connection.flush();
        of('admin').connection.publish(subject, 'x');
        await of('admin').connection.flush();
        await connection.flush();
        assert.equal(has, NATS_PERMISSIONS[user].subscribe.includes(subject), user);
      }
    });
  }

  it('cannot delete, empty or cut the stream, make another, or answer in the place of the server', async () => {
    for (const user of SERVICES)
      for (const subject of ASKING) assert.equal(await arrives(user, subject), false, `${user} ${subject}`);
  });

  it('other than sync and the audit can neither look at the stream nor follow it', async () => {
    for (const user of ['gateway', 'workspace'] as const) {
      const { connection, refused } = of(user);
      const inbox = createInbox();
      for (const what of ['STREAM.INFO', 'STREAM.MSG.GET', 'CONSUMER.CREATE', 'STREAM.UPDATE', 'CONSUMER.MSG.NEXT'])
        assert.equal(await arrives(user, `$JS.API.${what}.${STREAM.name}`), false, `${user} ${what}`);
      connection.subscribe(inbox, { callback: () => undefined });
      await connection.flush();
      assert.ok(
        refused.some((text) => /permission/i.test(text)),
        `${user} is told`,
      );
    }
  });
});
