import assert from 'node:assert/strict';
import stringWidth from 'string-width';
import type { Look } from './look.ts';
import { safeJson, safeText } from './safe-text.ts';
import { tableText, tabText } from './table.ts';
import type { Column } from './view.ts';

interface Row {
  readonly key: string;
  readonly title: string;
  readonly note?: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'KEY', value: ({ key }) => key },
  { title: 'TITLE', value: ({ title }) => title, isCut: true },
  { title: 'NOTE', value: ({ note }) => note, isCut: true },
];
const look = (columns: number): Look => ({
  isTerminal: true,
  isColored: false,
  isAccessible: false,
  columns,
  timezone: 'UTC',
  now: new Date(),
});

const WIDE = '会議の準備をする 👩‍👩‍👧‍👦 done';

describe('a table', () => {
  it('fits the terminal, and cuts no character in two', () => {
    const rows = [
      { key: 'A-1', title: WIDE.repeat(4), note: 'x'.repeat(80) },
      { key: 'A-1000', title: 'short', note: '' },
    ];
    for (const columns of [20, 33, 40, 61, 80, 200]) {
      const lines = tableText(rows, COLUMNS, look(columns)).trimEnd().split('\n');
      for (const line of lines) assert.ok(stringWidth(line) <= columns, `${columns}: ${line}`);
      assert.ok(!lines.some((line) => /\u200d…|\ufffd/.test(line)));
    }
  });

  it('aligns columns also after wide characters', () => {
    const rows = [
      { key: 'A-1', title: WIDE, note: 'one' },
      { key: 'A-2', title: 'plain', note: 'two' },
    ];
    const at = tableText(rows, COLUMNS, look(120))
      .trimEnd()
      .split('\n')
      .map((line) => stringWidth(line.replace(/(NOTE|one|two)$/, '')));
    assert.equal(new Set(at).size, 1);
  });

  it('leaves out columns without any value', () =>
    assert.doesNotMatch(tableText([{ key: 'A-1', title: 'x' }], COLUMNS, look(80)), /NOTE/));

  it('has one line a record with as many tabs for a pipe, whatever the texts', () => {
    const text = tabText([{ key: 'A-1', title: 'a\tb\nc', note: 'd' }], COLUMNS);
    assert.equal(text, 'A-1\ta␉b␤c\td\n');
  });
});

describe('texts of people', () => {
  const hostile = ['\u001b]52;c;ZWNobw==\u0007', '\u009b31m', '\u202egnp.exe', 'a\rb', '\u007f', '\u0000', '\ud800'];

  it('never send a control character to a terminal', () => {
    const unsafe = /[[\p{Cc}--[\t\n]]\u202e\ud800]/v;
    for (const text of hostile) {
      const rows = [{ key: text, title: text }];
      const forms = [
        safeText(text),
        safeJson({ [text]: text }),
        tabText(rows, COLUMNS),
        tableText(rows, COLUMNS, look(80)),
      ];
      for (const shown of forms) assert.doesNotMatch(shown, unsafe, JSON.stringify(text));
    }
  });

  it('are whole in JSON', () => {
    for (const text of hostile) assert.equal((JSON.parse(safeJson({ text })) as { text: string }).text, text);
  });

  it('keep the ends of their lines where they have several', () =>
    assert.equal(safeText('one\r\ntwo\n\tthree'), 'one\ntwo\n\tthree'));
});
