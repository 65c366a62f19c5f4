import { ANY_CHARACTER } from '@wts/contracts/any-character';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  choice,
  date,
  flag,
  httpUrl,
  id,
  integer,
  rank,
  reference,
  references,
  repeatRule,
  text,
  timeZone,
  timestamp,
} from './field.ts';
import type { Field } from './field.ts';

const doc = { doc: 'For a test.' };
const read = (field: Field, value: unknown): unknown => {
  const reading = field.read(value);
  return reading.ok ? reading.value : new Error(reading.reason);
};
const refuses = (field: Field, values: readonly unknown[]): void => {
  for (const value of values) assert.ok(!field.read(value).ok, `takes ${typeof value} ${String(value)}`);
};

/** One field of each kind. */
const KINDS: Readonly<Record<string, Field>> = {
  text: text({ min: 1, max: 20 }, doc),
  httpUrl: httpUrl(doc),
  integer: integer({ min: 0, max: 4 }, doc),
  flag: flag(doc),
  choice: choice(['a', 'b'], doc),
  rank: rank(doc),
  date: date(doc),
  timestamp: timestamp(doc),
  repeatRule: repeatRule(doc),
  id: id(doc),
  timeZone: timeZone(doc),
  reference: reference('Task', 'keep', doc),
  references: references('Label', 'clear', 3, doc),
};

describe('a field', () => {
  for (const [kind, field] of Object.entries(KINDS)) {
    it(`of kind ${kind} reads any value without throwing, and its result unchanged`, () =>
      fc.assert(
        fc.property(
          fc.oneof(fc.anything(), fc.string({ unit: ANY_CHARACTER }), fc.date().map(String), fc.integer()),
          (value) => {
            const reading = field.read(value);
            if (reading.ok) assert.deepEqual(field.read(reading.value), reading);
            else assert.match(reading.reason, /^must [\x20-\x7e]+$/);
          },
        ),
      ));

    it(`of kind ${kind} is null only where it is nullable`, () => {
      for (const nothing of [null, undefined])
        assert.deepEqual(field.read(nothing), { ok: false, reason: 'must not be null' });
    });
  }

  it('that is nullable is null when it is missing, also in a new record', () => {
    const field = text({ min: 1, max: 5 }, { ...doc, nullable: true });
    assert.equal(read(field, null), null);
    assert.equal(read(field, undefined), null);
    assert.equal(field.initial, null);
    assert.equal(text({ max: 5 }, doc).initial, undefined);
    assert.equal(flag({ ...doc, initial: false }).initial, false);
  });
});

describe('text', () => {
  const field = text({ min: 1, max: 4 }, doc);

  it('counts code points, not halves of pairs', () => {
    for (const good of ['a', '𝒳𝒳𝒳𝒳', '🚧', 'e\u0301e\u0301']) assert.equal(read(field, good), good);
    refuses(field, ['', '𝒳𝒳𝒳𝒳𝒳', 'aaaaa', 'x'.repeat(1_000_000)]);
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 8 }), (value) => {
        const length = [...value].length;
        const isGood = length >= 1 && length <= 4 && value.trim() !== '' && !value.includes('\0');
        assert.equal(field.read(value).ok, isGood);
      }),
    );
  });

  it('has no NUL and no unpaired surrogate, which PostgreSQL cannot store', () =>
    refuses(field, ['a\0', '\ud800', '\udc00\ud800', 'a\udfff']));

  it('is not blank where it is required, and may be empty where it is optional', () => {
    refuses(field, [' ', '\n\t', '\u00a0\u3000']);
    assert.equal(read(text({ max: 4 }, doc), ''), '');
  });

  it('matches its pattern as a whole', () => {
    const key = text({ min: 1, max: 10, pattern: /^[A-Z]+$/, words: 'must be capitals' }, doc);
    assert.equal(read(key, 'ABC'), 'ABC');
    refuses(key, ['ABC\n', 'aBC', 'A C']);
  });
});

describe('a URL', () => {
  const field = KINDS['httpUrl']!;

  it('is absolute, http or https, without credentials, and stored as it was sent', () => {
    for (const good of ['https://example.org', 'http://example.org:8080/a%20b?c=d#e', 'HTTPS://EXAMPLE.ORG/ünï'])
      assert.equal(read(field, good), good);
    refuses(field, [
      'example.org',
      '/logo.png',
      'ftp://example.org',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://',
      'https:///x',
      'https://user:secret@example.org',
      ' https://example.org',
      'https://example.org/a b',
      'ht\ntps://example.org',
      'https://example.org/\0',
      'https://example.org/\ud800',
      'https://example.org\\@evil.example',
      `https://example.org/${'x'.repeat(2048)}`,
      1,
      {},
    ]);
  });
});

describe('numbers, flags, choices and ranks', () => {
  it('accept their own values and nothing that resembles them', () => {
    for (const good of [0, 4]) assert.equal(read(KINDS['integer']!, good), good);
    refuses(KINDS['integer']!, [-1, 5, 1.5, '1', NaN, Infinity, 1n, true, [1]]);
    refuses(KINDS['flag']!, [0, 1, 'true', 'false', [], {}]);
    refuses(KINDS['choice']!, ['', 'A', 'toString', 'constructor', ['a'], 0]);
    for (const [given, kept] of [
      ['a0', 'a0'],
      ['', ''],
      [1.5, '1.5'],
      [0, '0'],
      [-3, '-3'],
    ] as const)
      assert.equal(read(KINDS['rank']!, given), kept);
    refuses(KINDS['rank']!, [NaN, Infinity, 'ä', 'a\n', 'x'.repeat(257), {}]);
  });
});

describe('a time zone', () => {
  it('is a name of the time zone database, also an old one, and no offset', () => {
    const field = KINDS['timeZone']!;
    for (const [given, kept] of [
      ['Europe/Berlin', 'Europe/Berlin'],
      ['europe/kiev', 'Europe/Kiev'],
      ['UTC', 'UTC'],
    ])
      assert.equal(read(field, given), kept);
    refuses(field, ['', '+02:00', 'Europe/Atlantis', 'Berlin', 'Europe/Berlin ', 'x'.repeat(1000), 1, {}]);
  });
});

/** Numbers of earlier times are refused. */
const millisecondsOf = (moment: Date): number[] => (moment.getTime() < Date.UTC(2000, 0, 1) ? [] : [moment.getTime()]);

describe('a number as a time or a day', () => {
  it('is refused with the unit when it is in seconds [sync.mutate.epoch-seconds]', () => {
    for (const field of [KINDS['date']!, KINDS['timestamp']!])
      for (const seconds of [1_795_341_193, 0, -1, Date.UTC(2000, 0, 1) - 1, Date.UTC(9999, 11, 31) / 1000])
        assert.match(String(read(field, seconds)), /epoch milliseconds.*multiply seconds by 1000/, String(seconds));
  });
});

describe('a day', () => {
  const field = KINDS['date']!;

  it('is read in three spellings', () => {
    for (const spelling of [
      '2026-11-21',
      '2026-11-21T00:00:00.000Z',
      '2026-11-21T23:59:59Z',
      '2026-11-20T23:30:00-01:00',
      '2026-11-21T10:00+05:45',
      1_795_222_326_625,
      Date.UTC(2026, 10, 21),
    ])
      assert.equal(read(field, spelling), '2026-11-21', String(spelling));
    assert.equal(read(field, '2024-02-29'), '2024-02-29');
  });

  it('exists in the calendar, from the year 1 to 9999', () => {
    refuses(field, [
      '2026-02-30',
      '2026-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-01-32',
      '0000-01-01',
      '-0001-01-01',
      '+010000-01-01',
      '2026-1-1',
      '21.11.2026',
      '2026-11-21 ',
      '2026-11-21T25:00:00Z',
      '2026-11-21T10:00:00',
      '2026-02-30T10:00:00Z',
      '2026-11-21T10:00:60Z',
      'today',
      '1795222326625',
      1.5,
      NaN,
      8.64e15,
      -8.64e15,
      253_402_300_800_000,
      {},
      new Date(),
    ]);
    assert.equal(read(field, '0001-01-01'), '0001-01-01');
    assert.equal(read(field, '9999-12-31'), '9999-12-31');
  });

  it('is the UTC day of any time', () =>
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (moment) => {
          const day = moment.toISOString().slice(0, 10);
          for (const spelling of [day, moment.toISOString(), ...millisecondsOf(moment)])
            assert.equal(read(field, spelling), day);
        },
      ),
    ));
});

describe('a time', () => {
  const field = KINDS['timestamp']!;

  it('is stored in UTC with milliseconds for every spelling', () => {
    for (const [given, kept] of [
      ['2026-11-21T09:00:00Z', '2026-11-21T09:00:00.000Z'],
      ['2026-11-21T09:00Z', '2026-11-21T09:00:00.000Z'],
      ['2026-11-21T09:00:00.1234567Z', '2026-11-21T09:00:00.123Z'],
      ['2026-11-21T09:00:00+05:45', '2026-11-21T03:15:00.000Z'],
      ['2026-11-21', '2026-11-21T00:00:00.000Z'],
      [1_795_222_326_625, new Date(1_795_222_326_625).toISOString()],
      [Date.UTC(2000, 0, 1), '2000-01-01T00:00:00.000Z'],
    ] as const)
      assert.equal(read(field, given), kept);
  });

  it('is refused in an ambiguous spelling', () =>
    refuses(field, [
      '2026-11-21T09:00:00',
      '2026-02-30T09:00:00Z',
      '2026-11-21 09:00:00Z',
      'Sat, 21 Nov 2026 09:00:00 GMT',
      '0001-01-01T00:00:00+05:00',
      '9999-12-31T23:59:59-01:00',
      1.5,
      '',
    ]));

  it('is the same from its number and its text, for any date', () =>
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
        (moment) => {
          for (const spelling of [moment.toISOString(), ...millisecondsOf(moment)])
            assert.equal(read(field, spelling), moment.toISOString());
        },
      ),
    ));
});

describe('a reference', () => {
  const id = 'ABCDEF01-2345-6789-abcd-ef0123456789';
  const other = '00000000-0000-0000-0000-000000000000';

  it('is a UUID, stored in lower case', () => {
    assert.equal(read(KINDS['reference']!, id), id.toLowerCase());
    refuses(KINDS['reference']!, ['', 'x', id.slice(1), `${id}\n`, `{${id}}`, `'${id.slice(1)}`, [id], 1]);
  });

  it('list has its order without repeats, and is bounded', () => {
    const field = KINDS['references']!;
    assert.deepEqual(read(field, [id, other, id.toLowerCase()]), [id.toLowerCase(), other]);
    assert.deepEqual(read(field, []), []);
    const four = [0, 1, 2, 3].map((digit) => `${digit}${other.slice(1)}`);
    refuses(field, [four, [id, null], [id, 'x'], id, { 0: id, length: 1 }]);
    assert.deepEqual(read(field, [...four.slice(0, 3), ...four.slice(0, 3)]), four.slice(0, 3));
  });
});
