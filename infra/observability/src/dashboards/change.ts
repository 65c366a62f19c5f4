import type { Dashboard } from './grafana.ts';
import { quantile, quantiles, rate } from './promql.ts';

const GATEWAY = '{service="gateway"}';
const FAILED = '{service="gateway", status=~"5.."}';

/** From the request of a client to the attempt of a webhook, in the order in which a change passes the services. */
export const changeDashboard: Dashboard = {
  uid: 'wts-change',
  title: 'The way of a change',
  description: 'From the request of a client over the log to sockets and webhooks, in this order.',
  rows: [
    {
      title: 'Enter: the gateway',
      graphs: [
        {
          title: 'Requests by route',
          unit: 'reqps',
          queries: { '{{route}}': rate(`wts_http_request_duration_seconds_count${GATEWAY}`, 'route') },
        },
        {
          title: 'Requests that failed',
          description: 'Share of answers with 5xx. Alert: RequestsFail.',
          unit: 'percentunit',
          queries: {
            failed: `(${rate(`wts_http_request_duration_seconds_count${FAILED}`)} or vector(0)) / ${rate(`wts_http_request_duration_seconds_count${GATEWAY}`)}`,
          },
        },
        {
          title: 'Time of a change',
          description: 'Of POST /sync/mutate at the gateway, the whole way to the answer.',
          unit: 's',
          queries: quantiles('wts_http_request_duration_seconds', '{service="gateway", route="syncMutate"}'),
        },
      ],
    },
    {
      title: 'Commit: sync and PostgreSQL',
      graphs: [
        { title: 'Changes', unit: 'ops', queries: { mutations: rate('wts_commit_mutations_total') } },
        {
          title: 'Time of a batch',
          description: 'Two or three round trips to PostgreSQL and one flush of its disk. Alert: CommitsAreSlow.',
          unit: 's',
          queries: quantiles('wts_commit_batch_duration_seconds'),
        },
        {
          title: 'Changes of a batch',
          description: 'Grows with the load: batches share the cost of a commit.',
          unit: 'short',
          queries: quantiles('wts_commit_batch_mutations'),
        },
        {
          title: 'Waiting and refused',
          description: 'Alert: CommitsAreRefused.',
          unit: 'short',
          queries: {
            'waiting transactions': 'sum(wts_commit_waiting_units)',
            '{{reason}} per second': rate('wts_commit_requests_dropped_total', 'reason'),
          },
        },
      ],
    },
    {
      title: 'Log and NATS',
      graphs: [
        {
          title: 'Entries into the stream',
          unit: 'ops',
          queries: { entries: rate('wts_relay_entries_total') },
        },
        {
          title: 'Entries that the stream lacks',
          description: 'Up to a page of 500. Alert: RelayIsBehind.',
          unit: 'short',
          queries: { behind: 'max(wts_relay_lag_entries)' },
        },
        {
          title: 'Time to publish a chunk',
          unit: 's',
          queries: quantiles('wts_relay_publish_duration_seconds'),
        },
      ],
    },
    {
      title: 'Sockets',
      graphs: [
        { title: 'Open sockets', unit: 'short', queries: { '{{instance}}': 'wts_socket_connections' } },
        {
          title: 'From commit to socket',
          description: 'Age of the newest entry when its round of sockets was served. Alert: SocketsAreLate.',
          unit: 's',
          queries: quantiles('wts_socket_lag_seconds'),
        },
        {
          title: 'Entries sent',
          description: 'One for each socket that gets an entry.',
          unit: 'ops',
          queries: { entries: rate('wts_socket_entries_total'), frames: rate('wts_socket_packets_total') },
        },
        {
          title: 'Unsent bytes',
          description: 'Much of it: clients read slowly.',
          unit: 'bytes',
          queries: { '{{instance}}': 'wts_socket_unsent_bytes' },
        },
        {
          title: 'Sockets closed by the server',
          unit: 'ops',
          queries: { '{{code}}': rate('wts_socket_closes_total', 'code') },
        },
      ],
    },
    {
      title: 'Webhooks',
      graphs: [
        {
          title: 'From commit to delivery',
          description: 'When the change became deliveries. Alert: WebhookEventsAreLate.',
          unit: 's',
          queries: quantiles('wts_webhooks_enqueue_delay_seconds'),
        },
        {
          title: 'From commit to first attempt',
          unit: 's',
          queries: quantiles('wts_webhooks_first_attempt_delay_seconds'),
        },
        {
          title: 'Attempts',
          unit: 'ops',
          queries: { '{{outcome}}': rate('wts_webhooks_attempt_seconds_count', 'outcome') },
        },
        {
          title: 'Time of an attempt',
          description: 'Most of it is the time of the consumer.',
          unit: 's',
          queries: { 'p99 {{outcome}}': quantile(0.99, 'wts_webhooks_attempt_seconds', '', 'outcome') },
        },
        {
          title: 'Oldest event that waits',
          description: 'Alert: WebhooksAreLate.',
          unit: 's',
          queries: { oldest: 'max(wts_webhooks_oldest_due_seconds)' },
        },
      ],
    },
  ],
};
