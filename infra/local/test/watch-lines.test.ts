import { SyncError, type SyncEvent } from '@wts/client';
import { deepEqual } from 'node:assert/strict';
import { WatchLines } from '../src/watch-lines.ts';

describe('npm run watch', () => {
  it('prints one line for an outage, however many attempts it has, and one when it is live again', () => {
    const lines = new WatchLines();
    const live: SyncEvent = { type: 'subscribed', groups: [] };
    const offline: SyncEvent = {
      type: 'offline',
      error: new SyncError('connection_failed', 'The connection failed'),
      retryMs: 100,
    };
    const printed = [live, offline, offline, offline, live, offline, live].flatMap((event) => lines.of(event));
    const outage = 'Disconnected (The connection failed). Trying again until the service is back.';
    deepEqual(printed, ['Watching. Press Ctrl-C to stop.', outage, 'Connected again.', outage, 'Connected again.']);
  });
});
