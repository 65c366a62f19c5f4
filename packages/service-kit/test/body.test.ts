import assert from 'node:assert/strict';
import type { ErrorCode } from '@wts/contracts';
import request from 'supertest';
import type { Test } from 'supertest';
import { ann, LIMIT_BYTES } from './demo.ts';
import { as, startDemo, type Running } from './running-demo.ts';
import { isRefusal, messageOf } from './refusal.ts';

describe('the body of a request', () => {
  let demo: Running;
  before(async () => (demo = await startDemo()));
  after(() => demo.service.close());
  const post = (body: object | string): Test =>
    request(demo.service.url).post('/things/a').set(as(ann)).set('content-type', 'application/json').send(body);

  describe('is refused', () => {
    const cases: Readonly<Record<string, [unknown, RegExp]>> = {
      'that is null': [null, /^body must be an object$/],
      'that is a list': [[], /^body must be an object$/],
      'with a text that is empty': [{ title: '' }, /^body\/title must not be empty$/],
      'without a field': [{}, /^body must have the property "title"$/],
      'with a field of another type': [{ title: 1 }, /^body\/title must be a string$/],
      'with a text that is too long, counted in characters': [
        { title: '😀'.repeat(11) },
        /^body\/title must have at most 10 characters$/,
      ],
      'with an unknown field, with the names of all fields': [
        { title: 'x', admin: true },
        /^body must not have the property "admin"; it may have title, /,
      ],
      'with several faults, up to five of them in one answer': [
        { title: '', kind: 'c', count: 1.5, day: 'x', at: 'x', id: '1', mail: 'ann' },
        /^body\/title must not be empty(; body\/(count|kind|day|at) must [^;]*){4}$/,
      ],
      'with several fields missing and one unknown': [{ admin: true }, /^body must .*title.*; body must .*/],
      'with a value out of a list': [{ title: 'x', kind: 'c' }, /^body\/kind must be one of a, b/],
      'with a fraction for a whole number': [{ title: 'x', count: 1.5 }, /^body\/count must be a whole number$/],
      'with a number as text': [{ title: 'x', count: '1' }, /^body\/count must be a whole number$/],
      'with a day that does not exist': [
        { title: 'x', day: '2026-02-30' },
        /^body\/day must be a day such as 2026-11-21$/,
      ],
      'with a time without a zone': [
        { title: 'x', at: '2026-01-01T00:00:00' },
        /^body\/at must be a time with a time zone, such as 2026-11-21T09:00:00\.000Z$/,
      ],
      'with an id that is none': [{ title: 'x', id: '1' }, /^body\/id must be a UUID$/],
      'with an address that is none': [{ title: 'x', mail: 'ann' }, /^body\/mail must be an e-mail address$/],
      'with a control character in a link': [{ title: 'x', link: 'https://x.test/\u0001' }, /^body\/link must be/],
      'with a script for a link': [
        { title: 'x', link: 'javascript:alert(1)' },
        /^body\/link must be an absolute URL that starts with http:/,
      ],
      'with a link without slashes': [{ title: 'x', link: 'http:example.com' }, /^body\/link must be/],
      'with a link that holds a password': [{ title: 'x', link: 'https://a:b@example.com/' }, /^body\/link must be/],
      'with a link of two lines': [{ title: 'x', link: 'https://example.com/\r\nx: y' }, /^body\/link must be/],
    };
    for (const [what, [body, sentence]] of Object.entries(cases)) {
      it(what, async () => {
        const answer = isRefusal(await post(JSON.stringify(body)), 400, 'validation_failed');
        assert.match(messageOf(answer), sentence);
      });
    }

    it('with keys that are names of Object.prototype, where the fields are closed', async () => {
      for (const key of ['__proto__', 'constructor', 'toString'])
        isRefusal(await post(`{"title":"x","${key}":{"polluted":1}}`), 400, 'validation_failed');
      assert.equal(({} as { polluted?: number }).polluted, undefined);
    });

    it('but may have such keys as data where the fields are open', async () => {
      const answer = await post('{"title":"x","payload":{"__proto__":{"polluted":1},"constructor":1}}').expect(201);
      assert.match(answer.text, /"payload":\{"__proto__":\{"polluted":1\},"constructor":1\}/);
    });

    const texts: Readonly<Record<string, [string | Buffer, number, ErrorCode]>> = {
      'that is not JSON': ['{}x', 400, 'malformed_json'],
      'with a byte order mark': ['\uFEFF{"title":"x"}', 400, 'malformed_json'],
      'nested 500 levels deep': [
        `{"title":"x","payload":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`,
        400,
        'malformed_json',
      ],
      'with a key twice': ['{"title":"x","title":"y"}', 400, 'malformed_json'],
      'with a NUL': ['{"title":"\\u0000"}', 400, 'validation_failed'],
      'with half a surrogate pair': ['{"title":"\\ud800"}', 400, 'validation_failed'],
      'with a number beyond all': ['{"title":"x","payload":{"n":1e400}}', 400, 'validation_failed'],
      'that is not UTF-8': [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400, 'malformed_json'],
      'that is too large': [
        JSON.stringify({ title: 'x', payload: { a: 'x'.repeat(LIMIT_BYTES) } }),
        413,
        'payload_too_large',
      ],
    };
    for (const [what, [body, status, code]] of Object.entries(texts)) {
      it(what, async () => {
        // superagent would turn bytes into JSON of its own.
        const sent = post('').serialize(() => body as string);
        isRefusal(await sent.send({ any: 1 }), status, code);
      });
    }

    it('when it is missing, with a message that names the body and not its type [errors.400.json]', async () => {
      const send = (): Test => request(demo.service.url).post('/things/a').set(as(ann));
      for (const sent of [
        send(),
        send().set('content-length', '0'),
        post(''),
        send().set('transfer-encoding', 'chunked').type('json'),
      ]) {
        const answer = isRefusal(await sent, 400, 'malformed_json');
        assert.equal(messageOf(answer), 'A JSON body is required.');
      }
    });

    it('is accepted at exactly its maximum size, and refused with one byte more', async () => {
      const body = (bytes: number): string =>
        JSON.stringify({ title: 'x', payload: { a: '' } }).replace('""', `"${'x'.repeat(bytes)}"`);
      const room = LIMIT_BYTES - body(0).length;
      await post(body(room)).expect(201);
      isRefusal(await post(body(room + 1)), 413, 'payload_too_large');
    });

    const types: Readonly<Record<string, string | undefined>> = {
      'of no type': undefined,
      'of a form': 'application/x-www-form-urlencoded',
      'of text': 'text/plain',
      'of a type that begins alike': 'application/jsonp',
      'of a JSON dialect': 'application/vnd.api+json',
      'in latin1': 'application/json; charset=latin1',
      'in UTF-16': 'application/json; charset=utf-16',
      'in UTF-8 and in another charset': 'application/json; charset=utf-8; charset=latin1',
      'with a parameter that is cut': 'application/json; profile="a',
      'of two types': 'application/json, text/plain',
    };
    for (const [what, type] of Object.entries(types)) {
      it(what, async () => {
        const test = request(demo.service.url).post('/things/a').set(as(ann));
        const answer = await (type === undefined ? test.unset('content-type') : test.set('content-type', type)).send(
          '{"title":"x"}',
        );
        isRefusal(answer, 415, 'unsupported_media_type');
        assert.match(messageOf(answer), /^Send Content-Type: application\/json/);
      });
    }
    it('when it is compressed', async () => {
      for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity'])
        isRefusal(await post({ title: 'x' }).set('content-encoding', encoding), 415, 'unsupported_media_type');
    });
    it('is accepted with every spelling of JSON in UTF-8, and with any other parameter [errors.415.media-type]', async () => {
      for (const type of [
        'application/json;charset=utf-8',
        'Application/JSON; Charset="UTF-8"',
        'application/json ; charset=UTF-8',
        'application/json; charset=utf8',
        'application/json; odata.metadata=minimal; profile="https://example.org/a;b"; v=2;',
      ]) {
        await request(demo.service.url)
          .post('/things/a')
          .set(as(ann))
          .set('content-type', type)
          .send('{"title":"x"}')
          .expect(201);
      }
      await post({ title: 'x' }).set('content-encoding', 'identity').expect(201);
    });
    it('is checked only when there is one, where it is optional', async () => {
      const maybe = (): Test => request(demo.service.url).post('/maybe');
      assert.deepEqual((await maybe().expect(200)).body, { ok: true, got: 'nothing' });
      assert.deepEqual((await maybe().set('content-length', '0').expect(200)).body, { ok: true, got: 'nothing' });
      assert.deepEqual((await maybe().send({}).expect(200)).body, { ok: true, got: {} });
      isRefusal(await maybe().send({ a: 1 }), 400, 'validation_failed');
      isRefusal(await maybe().type('text/plain').send('x'), 415, 'unsupported_media_type');
    });
    it('is refused before the handler runs', async () => {
      const before = demo.levers.echoes;
      await post({ title: 1 });
      await post('{');
      assert.equal(demo.levers.echoes, before);
    });
  });
});
