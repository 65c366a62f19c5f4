import assert from 'node:assert/strict';
import { parseCells } from './cells-setting.ts';

const cellOf = (shard: number, given: object = {}): object => ({
  shard,
  baseUrl: `https://c${shard}.example`,
  syncUrls: ['http://sync:4003'],
  workspaceUrls: ['http://workspace:4002'],
  dispatcherUrls: ['http://dispatcher:4005'],
  natsUrl: 'nats://auth:secret@nats:4222',
  ...given,
});

describe('the setting CELLS', () => {
  it('is a list of cells in the order of their numbers, with addresses without a slash at the end', () => {
    const cells = parseCells(JSON.stringify([cellOf(3, { baseUrl: 'https://three.example/' }), cellOf(0)]));
    assert.deepEqual(
      cells.map(({ shard, baseUrl }) => [shard, baseUrl]),
      [
        [0, 'https://c0.example'],
        [3, 'https://three.example'],
      ],
    );
  });

  it('names its fault, and no password', () => {
    const refused: readonly (readonly [unknown, RegExp])[] = [
      [[], /must be a list of cells/],
      [[cellOf(1)], /must be a cell 0/],
      [[cellOf(0), cellOf(0, { baseUrl: 'https://other.example' })], /two cells have the shard 0/],
      [[cellOf(0), cellOf(1, { baseUrl: 'https://c0.example' })], /two cells have the baseUrl/],
      [[cellOf(4096)], /whole number from 0 to 4095/],
      [[cellOf(0, { syncUrls: [] })], /syncUrls of cell 0 must be a list/],
      [[cellOf(0, { workspaceUrls: ['ftp://a'] })], /workspaceUrls of cell 0/],
      [[cellOf(0, { natsUrl: 'auth:secret@nats' })], /natsUrl of cell 0 must have URLs/],
      [[cellOf(0, { nats: 'x' })], /nats is not one of/],
    ];
    for (const [value, fault] of refused) {
      assert.throws(
        () => parseCells(JSON.stringify(value)),
        (error: Error) => fault.test(error.message) && !error.message.includes('secret'),
      );
    }
  });
});
