import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { WIRE_VERSION, type StoredEntry } from '@wts/contracts';
import { entry, chunk } from '../../test/entries.ts';
import { chunkAfter, chunkBytes, chunksAfter, decodeChunk, encodeChunk, hasNoEntries, messageIdOf } from './index.ts';
import { encodeWithoutEntries, parseMessageId } from './chunk.ts';

/** As the version before sent it. */
function before(text: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(text).toString().replace('"v":4,"shard":0', '"v":3'));
}

/**
 * Replicas of different releases exchange chunks during a rolling upgrade. A change of the format must raise WIRE_VERSION and
 * add its hash; the old line stays as history. Another order of the fields is the same format.
 */
const HASHES: Readonly<Record<number, string>> = {
  1: 'c6ce7f5954d81180645b78c69c9d8230e6155228d0ddeb290e142005ea2d540d',
  2: '3a13899a777b4dd4470459aecdec13ce2dde8433e4956cff4aefed76bf69ebb6',
  3: '769d1a574428f7f61a4a3dd51ba845d0ba5924db3cf41a6b6be5ede84ec664a6',
  4: 'f5e422a25ec5b7370bf5dd9bca656b4ad3cdcf17859a9652f0e9396a68e48e82',
};

function insertion(): StoredEntry {
  const { record } = entry(7);
  return entry(7, { action: 'INSERT', record, data: record, changed: [], workspaceId: null });
}

describe('a chunk on the wire', () => {
  it('has the bytes that its wire version is pinned to', () => {
    const data = encodeChunk(chunkAfter('epoch-1', '6', [insertion(), entry(8)]));
    assert.equal(createHash('sha256').update(data).digest('hex'), HASHES[WIRE_VERSION]);
  });

  it('is decoded as it was encoded', () => {
    const sent = chunk(4, 9);
    assert.deepEqual(decodeChunk(encodeChunk(sent)), sent);
  });

  it('has the record of an INSERT once', () => {
    const sent = chunkAfter('e1', '6', [insertion()]);
    const data = encodeChunk(sent);
    assert.equal(Buffer.from(data).toString().split('Täsk 7').length, 2);
    assert.deepEqual(decodeChunk(data), sent);
  });

  it('is decoded from the middle of a larger buffer', () => {
    const data = encodeChunk(chunk(4, 6));
    const within = Buffer.concat([Buffer.from('xx'), data, Buffer.from('yy')]).subarray(2, 2 + data.byteLength);
    assert.deepEqual(decodeChunk(within), chunk(4, 6));
  });

  it('of another version is refused by its number', () => {
    const data = Buffer.from(
      Buffer.from(encodeChunk(chunk(0, 1)))
        .toString()
        .replace('"v":4', '"v":99'),
    );
    assert.throws(() => decodeChunk(data), /wire version 99/);
  });

  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    '{"v":4}',
    '{"v":4,"shard":0,"epoch":"e","actions":[],"prev":1,"first":"1","last":"2"}',
  ]) {
    it(`is refused when it is ${text === '' ? 'empty' : text}`, () =>
      assert.throws(() => decodeChunk(Buffer.from(text))));
  }

  it('of the version before is read as one of log 0', () => {
    assert.deepEqual(decodeChunk(before(encodeChunk(chunk(4, 9)))), chunk(4, 9));
    assert.throws(() => decodeChunk(before(encodeChunk(chunk(4, 9))), 7), /of log 0; this process reads log 7/);
  });

  it('of another log is refused', () => {
    const sent = encodeChunk(chunk(4, 9), 7);
    assert.deepEqual(decodeChunk(sent, 7), chunk(4, 9));
    assert.throws(() => decodeChunk(sent), /of log 7; this process reads log 0/);
    assert.throws(() => decodeChunk(encodeWithoutEntries(chunk(4, 9), 7)), /of log 7/);
  });

  it('without its entries has the same message id', () => {
    const bare = decodeChunk(encodeWithoutEntries(chunk(4, 9)));
    assert.ok(hasNoEntries(bare));
    assert.equal(messageIdOf(bare), 'e1:5-9');
  });

  it('has a message id that can be parsed, for every epoch', () => {
    assert.deepEqual(parseMessageId(messageIdOf(chunk(4, 9, 'a:1-2'))), { epoch: 'a:1-2', first: 5n, last: 9n });
    for (const text of ['', 'e', 'e:1', 'e:1-', 'e:a-b', ':1-2']) assert.equal(parseMessageId(text), null);
  });
});

describe('entries in a row', () => {
  it('are split into chunks that follow each other and stay below the bound', () => {
    const run = Array.from({ length: 100 }, (_, index) => entry(index + 11));
    const chunks = chunksAfter('e1', '10', run, 4096);
    assert.deepEqual(
      chunks.flatMap((one) => one.actions),
      run,
    );
    let prev = '10';
    for (const one of chunks) {
      assert.equal(one.prev, prev);
      assert.ok(chunkBytes(one) < 4096 + 200);
      prev = one.last;
    }
  });

  it('with one above the bound have it in a chunk of its own', () => {
    const large = entry(2, { data: { title: 'x'.repeat(5000) } });
    assert.deepEqual(
      chunksAfter('e1', '0', [entry(1), large, entry(3)], 4096).map((one) => [one.first, one.last]),
      [
        ['1', '1'],
        ['2', '2'],
        ['3', '3'],
      ],
    );
  });

  it('make no chunk when there are none', () => assert.deepEqual(chunksAfter('e1', '10', []), []));
});
