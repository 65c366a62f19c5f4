import { contract, Fault, LIMITS, typed, UUID_PATTERN, type Principal } from '@wts/contracts';
import { servicePrincipal } from '@wts/access';
import { defineSettings, setting, type ConfigOf } from '../src/config/index.ts';
import { refuseUpgrade } from '../src/http/index.ts';
import type { ServiceDefinition } from '../src/life/index.ts';
import { createApp, mount, mountStream, notFoundAndErrors } from '../src/routes/index.ts';

/** A name that the other services call. */
export const NAME = 'sync';
const BODY_BYTES_MAX = 2048;
const name = { type: 'string', pattern: '^[a-z-]{1,20}$' } as const;
const basics = { summary: 'Demo', tag: 'Meta', errors: [] } as const;
const replyOf = <T>(status = 200) => ({ status, schema: typed<T>({ type: 'object' }) });
const ok = replyOf<{ ok: true }>();
const named = { type: 'object', additionalProperties: false, required: ['name'], properties: { name } } as const;

/** Operations that have every part a contract can have. */
export const demo = {
  echo: contract({
    ...basics,
    id: 'echo',
    method: 'POST',
    path: '/things/{name}',
    scope: 'write',
    params: named,
    query: {
      type: 'object',
      additionalProperties: false,
      properties: {
        limit: { type: 'string', pattern: '^[0-9]{1,3}$' },
        count: { type: 'integer', minimum: 1, maximum: 100 },
      },
    },
    bodyBytesMax: BODY_BYTES_MAX,
    body: {
      type: 'object',
      additionalProperties: false,
      required: ['title'],
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 10 },
        count: { type: 'integer', minimum: 0 },
        kind: { type: 'string', enum: ['a', 'b'] },
        day: { type: 'string', format: 'date' },
        at: { type: 'string', format: 'date-time' },
        mail: { type: 'string', format: 'idn-email' },
        link: { type: 'string', format: 'http-url' },
        id: { type: 'string', pattern: UUID_PATTERN },
        payload: { type: 'object' },
      },
    },
    reply: replyOf<{ ok: true; got: unknown }>(201),
  }),
  read: contract({
    ...basics,
    reply: replyOf<{ ok: true; name: string }>(),
    id: 'read',
    method: 'GET',
    path: '/things/{name}',
    scope: 'read',
    params: named,
  }),
  open: contract({ ...basics, reply: ok, id: 'open', method: 'GET', path: '/open', scope: 'none' }),
  inside: contract({
    ...basics,
    reply: replyOf<{ ok: true; userId: string }>(),
    id: 'inside',
    method: 'GET',
    path: '/internal/who',
    scope: 'none',
    internal: { callers: ['workspace'], forItself: true },
  }),
  maybe: contract({
    ...basics,
    reply: replyOf<{ ok: true; got: unknown }>(),
    id: 'maybe',
    method: 'POST',
    path: '/maybe',
    scope: 'none',
    bodyOptional: true,
    body: { type: 'object', additionalProperties: false, properties: {} },
  }),
  lie: contract({
    ...basics,
    id: 'lie',
    method: 'GET',
    path: '/lie',
    scope: 'none',
    reply: {
      status: 200,
      schema: { type: 'object', additionalProperties: false, required: ['ok'], properties: { ok: { const: true } } },
    },
  }),
  fail: contract({
    ...basics,
    reply: ok,
    id: 'fail',
    method: 'GET',
    path: '/fail',
    scope: 'none',
    query: { type: 'object', properties: { how: { type: 'string' } } },
  }),
  hold: contract({ ...basics, reply: ok, id: 'hold', method: 'GET', path: '/hold', scope: 'none' }),
  relay: contract({ ...basics, reply: ok, id: 'relay', method: 'GET', path: '/relay', scope: 'none' }),
  stream: contract({
    ...basics,
    reply: replyOf<undefined>(),
    id: 'stream',
    method: 'GET',
    path: '/stream',
    scope: 'none',
  }),
};

export const ann: Principal = { userId: 'ann', scopes: ['write'], credential: { kind: 'api_key', id: 'key-1' } };
/** The principal of a service that calls for itself. */
export const worker: Principal = servicePrincipal('workspace');
export const reader: Principal = { ...ann, userId: 'rea', scopes: ['read'] };

/** What tests do to the service while it runs. */
export interface Levers {
  /** Requests to `/hold` that wait, each with the means to answer it. */
  readonly held: { readonly answer: () => void; readonly signal: AbortSignal }[];
  echoes: number;
  closed: string[];
  /** What `/relay` does before it answers. */
  relay: () => Promise<unknown>;
}

const settings = defineSettings({ host: setting.text('HOST', { default: '127.0.0.1', doc: 'Address.' }) });
export type DemoConfig = ConfigOf<typeof settings>;

export function demoService(levers: Levers): ServiceDefinition<DemoConfig> {
  return {
    name: NAME,
    settings,
    async open(kit, { host }) {
      kit.stack.defer(() => void levers.closed.push('store'));
      const app = createApp(kit);
      mount(app, demo.echo, async ({ params, query, body, principal }) => {
        levers.echoes += 1;
        return { ok: true, got: { params, query, body, userId: principal.userId } };
      });
      mount(app, demo.read, async ({ params }) => {
        if (params.name === 'too-much') throw new Fault('unavailable', { message: 'You have enough under way' });
        return { ok: true, name: params.name };
      });
      mount(app, demo.open, async () => ({ ok: true }));
      mount(app, demo.maybe, async ({ body }) => ({ ok: true, got: body ?? 'nothing' }));
      mount(app, demo.lie, async () =>
        Object.assign({ ok: true as const }, { more: levers.echoes < 0 ? undefined : 1 }),
      );
      mount(app, demo.inside, async ({ principal }) => ({ ok: true, userId: principal.userId }));
      mount(app, demo.fail, async ({ query }) => fail(query.how ?? ''));
      mount(app, demo.hold, async (call) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        levers.held.push({ answer: resolve, signal: call.signal });
        await promise;
        return { ok: true };
      });
      mount(app, demo.relay, async () => {
        await levers.relay();
        return { ok: true };
      });
      mountStream(app, demo.stream, async ({ res }) => {
        res.writeHead(200, { 'content-type': 'text/plain' });
        res.write('half of it');
        throw new Error('broke in the middle');
      });
      notFoundAndErrors(app);
      return {
        app,
        host,
        port: 0,
        onUpgrade: (req, socket) => {
          if (req.url === '/throw') throw new Error('a bug in the upgrade');
          if (req.url === '/keep') {
            socket.on('end', () => socket.end()).resume();
            socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
          } else refuseUpgrade(socket, new Fault('not_found'), 'request-1');
        },
        beforeDrain: async () => void levers.closed.push('goodbye'),
      };
    },
  };
}

function fail(how: string): { ok: true } {
  if (how === 'fault') throw new Fault('unavailable', { retryAfterSeconds: 7, cause: new Error('secret-host:5432') });
  if (how === 'unique') throw Object.assign(new Error('duplicate key "ann"'), { code: '23505', severity: 'ERROR' });
  if (how === 'text') throw 'not even an error'; // eslint-disable-line typescript/only-throw-error -- that is the case
  throw new Error('a bug with secret-host and select * from people');
}

export const LIMIT_BYTES = BODY_BYTES_MAX;
export const URL_BYTES = LIMITS.urlBytes;
