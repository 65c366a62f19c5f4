import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Fault, type ErrorCode } from './errors.ts';
import { describeJsonFault } from './json-fault.ts';
import { isStorableText, orderedJson, parseJson } from './json.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');

function refuses(input: string | Uint8Array, code: ErrorCode, sentence: RegExp): void {
  assert.throws(
    () => parseJson(typeof input === 'string' ? bytes(input) : input),
    (fault) => {
      assert.ok(fault instanceof Fault, String(fault));
      assert.equal(fault.code, code);
      assert.match(fault.publicMessage ?? '', sentence);
      return true;
    },
  );
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('parsing JSON', () => {
  it('returns what JSON.parse returns', () => {
    const texts = [
      'null',
      '1',
      '"a"',
      '[]',
      '{}',
      ' {"a" : [1, {"b": -1.5e3}], "": "\\u00e9\\n" } ',
      '[true,false]',
      '"😀"',
    ];
    for (const text of texts) assert.deepEqual(parseJson(bytes(text)), JSON.parse(text), text);
  });

  it('distinguishes brackets, colons, quotes and escapes in strings from structure', () => {
    const value = { 'a:{': '[[["\\":', 'b\\': ['}}', '\\"'.repeat(100), '{'.repeat(500)] };
    assert.deepEqual(parseJson(bytes(JSON.stringify(value))), value);
  });

  it('finds the end of strings of any length with any escapes', () => {
    for (const filler of ['a', '\\"', '\\\\', 'é', '\\u00e9']) {
      for (const count of [0, 1, 31, 32, 62, 63, 64, 65, 66, 127, 128, 129, 1000]) {
        for (const end of ['', '\\"', '\\\\', ',{:[']) {
          const text = `{"${filler.repeat(count)}${end}":["${filler.repeat(count)}${end}",{"a":"${end}"}]}`;
          assert.deepEqual(parseJson(bytes(text)), JSON.parse(text), text.slice(0, 200));
          refuses(`[{"x":1,"x":"${filler.repeat(count)}${end}"}]`, 'malformed_json', /same key twice/);
          refuses(`["${filler.repeat(count)}${end}`, 'malformed_json', /not valid JSON/);
        }
      }
    }
    refuses(`["${'a'.repeat(100)}\\`, 'malformed_json', /not valid JSON/);
    refuses(`["${'a'.repeat(100)}\\ud800"]`, 'validation_failed', /unpaired/);
  });

  it('refuses text that is not JSON, with a message [errors.400.json]', () => {
    for (const text of ['{', '{}x', "{'a':1}", '{"a":1,}', 'NaN', '01', '"\n"', '{"a"}', 'undefined'])
      refuses(text, 'malformed_json', /not valid JSON/);
    refuses('', 'malformed_json', /empty/);
    refuses(' \n', 'malformed_json', /empty/);
  });

  it('names the line, the column and the mistake [errors.400.json]', () => {
    for (const [text, place] of [
      ['{"a":1,}', 'line 1, column 8: a name is missing here; the last one has no comma after it.'],
      ['[1,\n 2,\n]', 'line 3, column 1: a value is missing here; the last one has no comma after it.'],
      ['{\r\n  // text\r\n}', 'line 2, column 3: JSON has no comments.'],
      ['{"a":1 /* b */}', 'line 1, column 8: JSON has no comments.'],
      ["{'a':1}", 'line 1, column 2: strings and names must be in double quotes.'],
      ['{"a":\'b\'}', 'line 1, column 6: strings and names must be in double quotes.'],
      ['{a:1}', 'line 1, column 2: a name in double quotes must be here.'],
      [
        '{"a":NaN}',
        'line 1, column 6: no JSON value: use a string in double quotes, a number, true, false, null, { or [.',
      ],
      ['{"a" 1}', 'line 1, column 6: a colon must follow the name.'],
      ['{"a":1 "b":2}', 'line 1, column 8: a comma or } must follow the value.'],
      ['{"a":1]', 'line 1, column 7: a comma or } must follow the value.'],
      ['{} x', 'line 1, column 4: more text follows the value.'],
      [
        '{"a":"b\nc"}',
        'line 1, column 8: a line break or another control character in a string must be escaped, as \\n.',
      ],
      ['"\\q"', 'line 1, column 2: this escape does not exist; a backslash itself is \\\\.'],
      ['{"a":"b', 'line 1, column 8: a string is not closed.'],
      ['{"a":[1', 'line 1, column 8: the text ends before it is complete.'],
    ] as const) {
      assert.throws(() => parseJson(bytes(text)), { message: `The text is not valid JSON: ${place}` }, text);
    }
  });

  it('looks for a mistake in the beginning of a long text only [never.one-takes-all]', () => {
    const far = /: the mistake is after its first 262144 characters\.$/;
    for (const text of [
      `{"a":"${'\\n'.repeat(1_900_000)}`,
      `${'\n'.repeat(3_900_000)}x`,
      `["${'a'.repeat(300_000)}",x]`,
    ])
      refuses(text, 'malformed_json', far);
    refuses(`["${'a'.repeat(200_000)}",x]`, 'malformed_json', /line 1, column 200005/);
    refuses(`[x,"${'a'.repeat(300_000)}"]`, 'malformed_json', /line 1, column 2:/);
  });

  it('finds a mistake exactly where JSON.parse finds one, in any text of JSON with a change', () => {
    const chars = ['{', '}', '[', ']', ':', ',', '"', '\\', 'n', 't', '0', '-', '.', 'e', '+', ' ', '\n', '\0'];
    const changed = fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...chars), fc.boolean());
    fc.assert(
      fc.property(changed, ([json, place, char, isReplaced]) => {
        const at = place % (json.length + 1);
        const text = json.slice(0, at) + char + json.slice(isReplaced ? at + 1 : at);
        assert.equal(describeJsonFault(text) === null, isParsed(text), text);
      }),
      { numRuns: 2_000 },
    );
  });

  it('accepts 64 levels and refuses more, also 20 000 [errors.400.json]', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    parseJson(bytes(nested(64)));
    refuses(nested(65), 'malformed_json', /deeper than 64/);
    refuses(nested(20_000), 'malformed_json', /deeper than 64/);
    refuses('{"a":'.repeat(20_000), 'malformed_json', /deeper than 64/);
    parseJson(bytes(`[${Array.from({ length: 200 }, () => '[[]]').join(',')}]`));
  });

  it('accepts 20 000 values and refuses more before parsing [errors.400.json, never.unbounded]', () => {
    const of = (count: number, value: string): string => `[${Array.from({ length: count }, () => value).join(',')}]`;
    parseJson(bytes(of(19_998, '1')));
    for (const text of [of(20_001, '1'), of(10_001, '{}'), '{},'.repeat(1_398_000), '['.repeat(3).repeat(20_000)])
      refuses(text, 'malformed_json', /more than 20000 values|deeper than/);
    parseJson(bytes(JSON.stringify({ text: ',[{'.repeat(100_000) })));
  });

  it('refuses the same key twice in one object, in any spelling', () => {
    refuses('{"a":1,"a":2}', 'malformed_json', /same key twice/);
    refuses('{"a":1,"\\u0061":2}', 'malformed_json', /same key twice/);
    refuses('[{"x":{"a":1,"b":2,"a":3}}]', 'malformed_json', /same key twice/);
    refuses('{"__proto__":1,"__proto__":2}', 'malformed_json', /same key twice/);
    parseJson(bytes('[{"a":1},{"a":1,"b":{"a":1}}]'));
  });

  it('refuses text that is not UTF-8, or begins with a byte order mark', () => {
    for (const wrong of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]])
      refuses(Buffer.from([0x22, ...wrong, 0x22]), 'malformed_json', /UTF-8/);
    refuses('\uFEFF{}', 'malformed_json', /byte order mark/);
    assert.equal(parseJson(bytes('"a\uFEFF"')), 'a\uFEFF');
  });

  it('refuses NUL and unpaired surrogates in values and keys [errors.400.bad-text]', () => {
    for (const text of ['"\\u0000"', '["\\ud800"]', '{"a":"\\udc00\\ud800"}', '{"\\u0000":1}', '{"a":{"\\ud83d":1}}'])
      refuses(text, 'validation_failed', /NUL character or an unpaired/);
    assert.equal(parseJson(bytes('"\\ud83d\\ude00"')), '😀');
    assert.equal(parseJson(bytes('"\\\\u0000"')), '\\u0000');
  });

  it('says in which value of a batch a NUL or unpaired surrogate is, in a short text [errors.400.bad-text]', () => {
    const batch = { transactions: [{ payload: { title: 'fine' } }, { payload: { title: 'a\u0000b' } }] };
    refuses(JSON.stringify(batch), 'validation_failed', /surrogate in \/transactions\/1\/payload\/title\.$/);
    refuses('{"a":{"\\ud83d":1}}', 'validation_failed', /surrogate in \/a\.$/);
    refuses('["\\u0000"]', 'validation_failed', /surrogate in \/0\.$/);
    refuses(JSON.stringify({ ['😀'.repeat(5_000)]: '\u0000' }), 'validation_failed', /^.{1,400}$/u);
  });

  it('refuses a number that does not fit a double, anywhere', () => {
    for (const text of ['1e400', '-1e400', '[1E+309]', `{"a":${'9'.repeat(310)}}`, `[0,${'9'.repeat(400)}]`])
      refuses(text, 'validation_failed', /out of range/);
    for (const text of ['1e308', '1e-400', '0.1', '9'.repeat(300), '"1e400"']) parseJson(bytes(text));
  });

  it('returns keys with names of Object.prototype as data', () => {
    const value = parseJson(bytes('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')) as object;
    assert.deepEqual(Object.keys(value), ['__proto__', 'constructor']);
    assert.equal(({} as { polluted?: number }).polluted, undefined);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
  });
});

describe('storable text', () => {
  it('has no NUL and no unpaired surrogate', () => {
    assert.ok(isStorableText('a😀\n\u200f'));
    for (const text of ['\u0000', 'a\u0000b', '\ud800', '\udc00a']) assert.equal(isStorableText(text), false);
  });
});

describe('ordered JSON', () => {
  it('is the same text for the same content, in whatever order its fields were written', () => {
    const one = orderedJson({ b: [{ y: 1, x: 2 }, null], a: { d: 'e', c: undefined } });
    assert.equal(one, orderedJson({ a: { c: undefined, d: 'e' }, b: [{ x: 2, y: 1 }, null] }));
    assert.equal(one, '{"a":{"d":"e"},"b":[{"x":2,"y":1},null]}');
    assert.notEqual(orderedJson([1, 2]), orderedJson([2, 1]));
  });
});
