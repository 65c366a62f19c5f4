import assert from 'node:assert/strict';
import { LIMITS } from './limits.ts';

describe('bounds in the interface', () => {
  it('of sync have the documented values, although tests use smaller ones [sync.mutate.order, sync.mutate.idempotent, sync.batch.bounds, sync.deltas.limit-clamped]', () => {
    const { mutateTransactionsMax, idempotencyDays, batchRequestsMax, deltasLimitDefault, deltasLimitMax } = LIMITS;
    assert.deepEqual([mutateTransactionsMax, idempotencyDays, batchRequestsMax], [100, 30, 100]);
    assert.deepEqual([deltasLimitDefault, deltasLimitMax], [1000, 5000]);
  });

  it('of sockets have the documented values, although tests use smaller ones [sync.socket.no-subscribe, sync.socket.frame-max, sync.socket.ping, sync.socket.watermark, sync.socket.slow-reader]', () => {
    const { socketSubscribeTimeoutMs, socketFrameBytesMax, socketPingMs, socketWatermarkMs } = LIMITS;
    assert.deepEqual([socketSubscribeTimeoutMs, socketPingMs, socketWatermarkMs], [10_000, 30_000, 20_000]);
    assert.equal(socketFrameBytesMax, 64 * 1024);
    assert.deepEqual([LIMITS.socketUnsentBytesMax, LIMITS.socketStalledMs], [256 * 1024, 20_000]);
  });
});
