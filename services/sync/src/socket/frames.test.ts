import assert from 'node:assert/strict';
import { syncFrames, type SyncAction } from '@wts/contracts';
import { Entry } from '@wts/log';
import { Visibility } from '@wts/read-model';
import { compile } from '@wts/service-kit/routes';
import { ENTRY_FORMATTERS } from '../deltas/action-spelling.ts';
import { PacketWriter, watermark } from '../hub/packet.ts';
import { errorFrame, parseClientFrame, subscribedFrame } from './frames.ts';

const ID = '018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21';
const action: SyncAction = {
  syncId: '44',
  modelName: 'WorkspaceMember',
  modelId: ID,
  action: 'INSERT',
  data: { workspaceId: ID },
  groupId: ID,
  clientTxId: 'tx',
  clientId: 'laptop',
  createdAt: '2026-11-21T09:00:00.000Z',
};

/** Parses the JSON of a whole text frame. */
function jsonOf(...parts: readonly Buffer[]): unknown {
  const frame = Buffer.concat(parts).toString('utf8');
  return JSON.parse(frame.slice(frame.indexOf('{'))) as unknown;
}

const packet = (text: string): unknown => {
  const writer = new PacketWriter();
  writer.add(44n, text);
  return jsonOf(...writer.finish(45n).map(({ frame }) => frame));
};

describe('the frames of a socket', () => {
  const entry = new Entry({ ...action, workspaceId: ID }, ID, JSON.stringify(action.data), action.createdAt);
  const known = { groups: new Set([ID]), gains: new Map<string, bigint>(), at: 45n, floor: 0n, epoch: 'one' };
  const visibility = new Visibility({ userId: ID }, known);
  const sent: readonly (readonly [string, string, unknown])[] = [
    ['subscribed', 'subscribed', jsonOf(...subscribedFrame(43n, [ID]))],
    ['delta in words', 'delta', packet(ENTRY_FORMATTERS.words.text(entry))],
    ['delta in letters', 'delta', packet(ENTRY_FORMATTERS.letters.text(entry))],
    ['delta with a group change', 'delta', packet(ENTRY_FORMATTERS.letters.textFor(entry, visibility))],
    ['delta without actions', 'delta', jsonOf(watermark(45n).frame)],
    ['error', 'error', jsonOf(errorFrame('RESTARTING', 'Again'))],
    ['error with a position', 'error', jsonOf(errorFrame('SLOW_CONSUMER', 'Again', 7n))],
  ];
  for (const [what, type, frame] of sent) {
    it(`${what} fits its schema`, () => {
      const declared = syncFrames.FRAMES.find((one) => one.type === type);
      compile(declared?.schema ?? { not: {} }, 'frame')(frame);
    });
  }

  it('have examples that fit their schemas', () => {
    for (const { type, schema, example } of syncFrames.FRAMES) compile(schema, type)(example);
  });

  it('are refused with the same message as an invalid body', () => {
    const parse = (frame: object) =>
      parseClientFrame(Buffer.from(JSON.stringify({ type: 'subscribe', ...frame })), undefined);
    const refused: readonly (readonly [object, string])[] = [
      [{}, 'frame must have the property "afterSyncId"'],
      [{ afterSyncId: '-1' }, 'frame/afterSyncId must be a whole number in 1 to 19 digits, as text'],
      [{ afterSyncId: '1', token: 7 }, 'frame/token must be a string'],
      [
        { afterSyncId: '1', groups: Array.from({ length: 1001 }, () => ID) },
        'frame/groups must contain at most 1000 items',
      ],
      [{ afterSyncId: '1', groups: [7] }, 'frame/groups/0 must be a string'],
      [{ afterSyncId: '1', actions: 'runes' }, 'frame/actions must be one of words, letters'],
    ];
    for (const [frame, message] of refused) assert.deepEqual(parse(frame), { kind: 'invalid', message });
  });

  it('are ignored when of another type, like unknown fields', () => {
    assert.deepEqual(parseClientFrame(Buffer.from('{"type":"later"}'), undefined), { kind: 'ignored' });
    const later = parseClientFrame(Buffer.from('{"type":"subscribe","afterSyncId":"1","later":true}'), 'letters');
    assert.equal(later.kind === 'subscribe' && later.subscribe.spelling, 'letters');
  });
});
