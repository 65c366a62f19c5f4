import { CALLS } from '@wts/contracts';
import { deepEqual, equal, match, notEqual, ok, rejects, throws } from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'nats';
import { Client } from 'pg';
import { ownDatabase, provision } from '../src/database/provision.ts';
import { passwordsSql } from '../src/installation/new-secrets.ts';
import { writeSecrets, makeSecrets, readSecrets, tokenSettings } from '../src/secrets.ts';
import { SERVICES } from '../src/services.ts';
import { openNats, type NatsServer } from '../src/servers/nats.ts';
import { checkNats } from '../src/servers/nats-external.ts';
import { findNats, isOldNats } from '../src/servers/nats-program.ts';
import { openPostgres, type PostgresServer } from '../src/servers/postgres.ts';
import { findPostgres } from '../src/servers/postgres-programs.ts';
import { scratch } from './scratch.ts';
import { until } from './until.ts';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const optionsIn = (directory: string) => ({
  directory: join(directory, 'data'),
  log: join(directory, 'log'),
  records: join(directory, 'run'),
  password: 'secret',
  env: process.env,
  resetHint: 'Begin again',
  throwaway: true,
});

describe('the PostgreSQL server', () => {
  let server: PostgresServer;
  const home = scratch();
  before(async () => {
    // As an earlier start leaves it that was killed before its data was complete.
    mkdirSync(join(home, 'data.new'));
    writeFileSync(join(home, 'data.new', 'PG_VERSION'), '18');
    server = await openPostgres(optionsIn(home));
  });
  after(() => server[Symbol.asyncDispose]());

  it('starts with new data where an earlier start was killed before its data was complete', async () => {
    equal((await query(server.url(), 'SELECT 1')).length, 1);
    equal(existsSync(join(home, 'data.new')), false);
  });

  it('has every committed row after a kill, at the same address', async () => {
    await query(server.url(), 'CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)');
    await server.kill();
    await rejects(query(server.url(), 'SELECT 1'));
    await server.start();
    deepEqual(await query(server.url(), 'SELECT id FROM kept'), [{ id: 7 }]);
    await server.stop();
    await server.start();
    deepEqual(await query(server.url(), 'SELECT id FROM kept'), [{ id: 7 }]);
  });

  it('requires the password', async () => {
    const url = new URL(server.url());
    url.password = 'wrong';
    await rejects(query(url.href, 'SELECT 1'), { code: '28P01' });
  });

  it('gives the roles the passwords of a file of secrets by SQL that has none of them [secrets.steps]', async () => {
    const sql = passwordsSql({ SYNC_DATABASE_URL: 'postgres://wts_sync:p%40ss@db/wts' });
    ok(!sql.includes('p@ss'));
    await query(server.url(), `CREATE ROLE wts_sync LOGIN PASSWORD 'old'; ${sql}`);
    const url = new URL(server.url());
    url.username = 'wts_sync';
    url.password = 'old';
    await rejects(query(url.href, 'SELECT 1'), { code: '28P01' });
    url.password = 'p%40ss';
    await query(url.href, 'SELECT 1');
    await query(server.url(), 'DROP ROLE wts_sync');
  });

  it('is not reachable from other machines', async () => {
    deepEqual(await query(server.url(), 'SHOW listen_addresses'), [{ listen_addresses: '127.0.0.1' }]);
  });

  it('reports data of another version with a message for the user', async () => {
    const directory = scratch();
    mkdirSync(join(directory, 'data'));
    writeFileSync(join(directory, 'data', 'PG_VERSION'), '9\n');
    await rejects(openPostgres(optionsIn(directory)), {
      name: 'UserError',
      message: /written by PostgreSQL 9\. PostgreSQL \d+.*[^]*Begin again/,
    });
  });

  it('in PG_BIN is an error when it does not work, and is not replaced by another', async () => {
    throws(() => findPostgres({ PG_BIN: '/nowhere' }), {
      name: 'UserError',
      message: /PG_BIN=\/nowhere does not work/,
    });
  });

  describe('provisioning', () => {
    const administrator = async (name: string, rights: string) => {
      await query(server.url(), `CREATE ROLE ${name} LOGIN PASSWORD 'x' ${rights}`);
      const url = new URL(server.url());
      [url.username, url.password] = [name, 'x'];
      return url.href;
    };

    it('works with CREATEROLE and CREATEDB, repeatedly and in parallel', async () => {
      const adminUrl = await administrator('manager', 'CREATEROLE CREATEDB');
      const options = { adminUrl, name: 'managed', fallbackKey: 'k' };
      const [database, other] = await Promise.all([provision(options), provision(options)]);
      notEqual(database.isNew, other.isNew);
      equal((await provision(options)).isNew, false);
      await query(database.urlOf('wts_sync'), 'CREATE TABLE things (id int)');
      deepEqual(await query(database.urlOf('wts_graph'), 'SELECT id FROM things'), []);
    });

    it('reports which rights a role lacks', async () => {
      const adminUrl = await administrator('nobody_much', '');
      await rejects(provision({ adminUrl, name: 'never', fallbackKey: 'k' }), {
        name: 'UserError',
        message: /"nobody_much" of DATABASE_URL may not set up[^]*CREATEROLE/,
      });
    });

    it('reports an unreachable server, and refused credentials', async () => {
      const options = { name: 'never', fallbackKey: 'k' };
      await rejects(provision({ ...options, adminUrl: 'postgres://a:b@127.0.0.1:1/postgres' }), {
        name: 'UserError',
        message: /cannot be reached/,
      });
      const url = new URL(server.url());
      url.password = 'wrong';
      await rejects(provision({ ...options, adminUrl: url.href }), {
        name: 'UserError',
        message: /refuses the credentials/,
      });
    });

    it('reports any other failure of the server in a sentence', async () => {
      const url = new URL(server.url());
      url.searchParams.set('options', '-c nonsense=on');
      await rejects(provision({ adminUrl: url.href, name: 'never', fallbackKey: 'k' }), {
        name: 'UserError',
        message: /cannot be set up: .*nonsense.* \(42704\)[^]*postgres\.log/,
      });
    });

    it('uses the database wts when the URL names a maintenance database or none', () => {
      equal(ownDatabase('postgres://a@h/', 'wts').name, 'wts');
      equal(ownDatabase('postgres://a@h/postgres', 'wts').name, 'wts');
      deepEqual(ownDatabase('postgres://a:b@h:1/mine', 'wts'), {
        adminUrl: 'postgres://a:b@h:1/postgres',
        name: 'mine',
      });
    });
  });

  describe('that is started again with handlers', () => {
    const messages: string[] = [];
    let again: PostgresServer;
    before(async () => {
      await server.stop();
      const notify = (text: string) => messages.push(text);
      again = await openPostgres({ ...optionsIn(home), onCrash: notify, onRestarted: notify });
    });
    after(() => again[Symbol.asyncDispose]());

    it('is restarted after a crash', async () => {
      process.kill(again.pid(), 'SIGKILL');
      await until('it runs again', () => messages.length === 2);
      match(messages[0] ?? '', /PostgreSQL exited/);
      equal((await query(again.url(), 'SELECT 1')).length, 1);
    });

    it('reports data with another password with a message for the user', async () => {
      await again.stop();
      await rejects(openPostgres({ ...optionsIn(home), password: 'another' }), {
        name: 'UserError',
        message: /other passwords[^]*Begin again/,
      });
    });
  });
});

describe('the NATS server', () => {
  let server: NatsServer;
  before(async () => (server = await openNats(optionsIn(scratch()))));
  after(() => server[Symbol.asyncDispose]());

  it('has JetStream behind a password', async () => {
    const { port } = server;
    await rejects(connect({ port, reconnect: false }), { code: 'AUTHORIZATION_VIOLATION' });
    const connection = await connect({ port, user: 'wts_admin', pass: 'secret' });
    const manager = await connection.jetstreamManager();
    await manager.streams.add({ name: 'KEPT', subjects: ['kept'] });
    await connection.jetstream().publish('kept', 'one');
    await connection.close();
    await server.kill();
    await server.start();
    const again = await connect({ port, user: 'wts_admin', pass: 'secret' });
    equal((await (await again.jetstreamManager()).streams.info('KEPT')).state.messages, 1);
    await again.close();
  });

  it('at NATS_URL is checked before services use it', async () => {
    match(await checkNats(server.url), /^\d+\.\d+\.\d+/);
    await rejects(checkNats('nats://127.0.0.1:1'), { name: 'UserError', message: /cannot be used/ });
    await rejects(checkNats(server.url.replace('secret', 'wrong')), { name: 'UserError', message: /cannot be used/ });
    match(await checkNats(`${server.url}, nats://127.0.0.1:1`), /^\d+\.\d+\.\d+/);
    for (const wrong of ['nats://:::', '127.0.0.1:4222', 'localhost:4222', `${server.url}, b:4222`, ','])
      await rejects(checkNats(wrong), { name: 'UserError', message: /is not a NATS URL/ }, wrong);
  });

  it('that is too old, or no server, is reported with a message for the user', async () => {
    deepEqual(['2.9.10', '2.10.0', '2.14.0', '3.0.0', '1.4.1'].map(isOldNats), [true, false, false, false, true]);
    const old = join(scratch(), 'nats-server');
    writeFileSync(old, '#!/bin/sh\necho "nats-server: v2.9.10"\n');
    chmodSync(old, 0o755);
    throws(() => findNats({ NATS_SERVER_BIN: old }), {
      name: 'UserError',
      message: /2\.9\.10, but 2\.10\.0 or newer is needed/,
    });
    throws(() => findNats({ NATS_SERVER_BIN: '/nowhere' }), { name: 'UserError', message: /does not work/ });
  });
});

describe('secrets', () => {
  it('are stored completely and readable by their owner only', () => {
    const file = join(scratch(), 'state', 'secrets.json');
    const made = makeSecrets();
    writeSecrets(file, made);
    deepEqual(readSecrets(file), made);
    equal(statSync(file).mode & 0o777, 0o600);
    ok(made.replaySecret.length >= 32 && made.jwtSecret.length >= 32);
    equal(new Set(Object.values(made)).size, Object.values(made).length);
    equal(readFileSync(file, 'utf8').includes(made.jwtSecret), true);
  });

  it('that an earlier version stored get what they lack, and keep the rest', () => {
    const file = join(scratch(), 'secrets.json');
    const { serviceKeys, replaySecret, ...earlier } = makeSecrets();
    const { gateway = '', ...others } = serviceKeys;
    writeFileSync(file, JSON.stringify({ ...earlier, internalTokenSecret: 'x', serviceKeys: { gateway } }));
    const read = readSecrets(file);
    equal(read.postgresPassword, earlier.postgresPassword);
    equal(read.serviceKeys['gateway'], gateway);
    deepEqual(Object.keys(read.serviceKeys).toSorted(), ['gateway', ...Object.keys(others)].toSorted());
    ok(read.replaySecret !== '' && read.replaySecret !== replaySecret);
  });

  it('give a service no private key but its own, and none to one that calls no other', () => {
    const { serviceKeys } = makeSecrets();
    for (const { name } of SERVICES) {
      const text = JSON.stringify(tokenSettings(name, { serviceKeys }));
      const held = Object.keys(serviceKeys).filter((owner) => text.includes(serviceKeys[owner] ?? '-'));
      deepEqual(held, CALLS[name].length === 0 ? [] : [name]);
    }
    ok(!('webhook-dispatcher' in serviceKeys));
  });
});
