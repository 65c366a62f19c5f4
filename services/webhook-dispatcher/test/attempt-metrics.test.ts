import { receiver } from '@wts/testkit';
import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { attemptMetrics } from '../src/attempt/metrics.ts';
import { dnsServer } from './dns-server.ts';
import { sharedAuthority, testSender } from './sender.ts';

describe('the metrics of attempts', () => {
  it('count what was blocked, resolved, reused and how attempts ended', async () => {
    const registry = new Registry();
    const authority = await sharedAuthority();
    await using dns = await dnsServer();
    await using consumer = await receiver({ identity: await authority.issue({ hosts: ['consumer.test'] }) });
    await using sender = testSender({ authority, dnsServers: [dns.address], metrics: attemptMetrics(registry) });
    dns.set('consumer.test', { addresses: ['127.0.0.1'] });
    dns.set('inside.test', { addresses: ['10.0.0.1'] });
    const { port } = new URL(consumer.url);
    for (const host of ['consumer.test', 'consumer.test', 'inside.test', '10.0.0.1', 'absent.test'])
      await sender.send(`https://${host}:${port}/`);
    const text = await registry.metrics();
    for (const line of [
      'wts_webhooks_blocked_addresses_total{where="answer"} 1',
      'wts_webhooks_blocked_addresses_total{where="url"} 1',
      'wts_webhooks_dns_seconds_count{outcome="found"} 2',
      'wts_webhooks_dns_seconds_count{outcome="failed"} 1',
      'wts_webhooks_connections_total{kind="new"} 3',
      'wts_webhooks_connections_total{kind="reused"} 1',
      'wts_webhooks_connections_open 1',
      'wts_webhooks_attempt_seconds_count{outcome="success"} 2',
      'wts_webhooks_attempt_seconds_count{outcome="blocked_address"} 2',
      'wts_webhooks_attempt_seconds_count{outcome="dns_error"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
  });
});
