import type { Dashboard, Graph, Row } from './grafana.ts';
import { quantile, quantiles, rate } from './promql.ts';

type SeriesOf = (service: string) => ReadonlySet<string>;

/** One dashboard for each service: what only this one has, and what all have whose metrics it has. */
export function serviceDashboards(seriesOf: SeriesOf): readonly Dashboard[] {
  return Object.entries(OWN).map(([service, { title, graphs }]) => ({
    uid: `wts-${service}`,
    title: `Service ${service}`,
    description: `What each process of ${service} does and needs.`,
    rows: [{ title, graphs }, ...commonRows(service, seriesOf(service))],
  }));
}

const OWN: Readonly<Record<string, { readonly title: string; readonly graphs: readonly Graph[] }>> = {
  gateway: {
    title: 'Callers',
    graphs: [
      {
        title: 'Answers by status',
        unit: 'reqps',
        queries: { '{{status}}': rate('wts_http_request_duration_seconds_count{service="gateway"}', 'status') },
      },
      {
        title: 'Refusals by code',
        description:
          'rate_limited: a caller is over a limit. api_key_invalid and token_invalid: credentials that are wrong or ended.',
        unit: 'ops',
        queries: { '{{code}}': rate('wts_refusals_total{service="gateway"}', 'code') },
      },
    ],
  },
  auth: {
    title: 'People',
    graphs: [
      {
        title: 'Sign-ins',
        description: 'Alerts: PasswordsAreGuessed, SignInsFail.',
        unit: 'ops',
        queries: { '{{way}}: {{outcome}}': rate('wts_sign_ins_total', 'way, outcome') },
      },
      {
        title: 'API keys looked up',
        description: 'The gateway asks again every few seconds. Alert: KeysAreGuessed.',
        unit: 'ops',
        queries: { '{{outcome}}': rate('wts_api_key_lookups_total', 'outcome') },
      },
      { title: 'Security events', unit: 'ops', queries: { '{{kind}}': rate('wts_security_events_total', 'kind') } },
      { title: 'New people', unit: 'ops', queries: { people: rate('wts_people_created_total') } },
      {
        title: 'Mails',
        unit: 'ops',
        queries: { '{{outcome}}': rate('wts_mail_attempts_total', 'outcome'), waiting: 'max(wts_mails_waiting)' },
      },
      {
        title: 'Oldest mail that waits',
        description: 'Alert: MailIsNotSent.',
        unit: 's',
        queries: { oldest: 'max(wts_mails_oldest_seconds)' },
      },
    ],
  },
  workspace: { title: 'Refusals', graphs: [refusals('workspace')] },
  sync: {
    title: 'Reads and work',
    graphs: [
      {
        title: 'Time of snapshots',
        description: 'Bootstrap and keyed reads, from the first row to the last.',
        unit: 's',
        queries: { 'p99 {{kind}}': quantile(0.99, 'wts_snapshot_duration_seconds', '', 'kind') },
      },
      {
        title: 'Snapshots',
        unit: 'short',
        queries: {
          'running {{kind}}': 'sum by (kind) (wts_snapshot_running)',
          'waiting {{kind}}': 'sum by (kind) (wts_snapshot_waiting)',
        },
      },
      {
        title: 'Waiting for a turn',
        description: 'While people compete: pages, reads of sockets, large bodies.',
        unit: 'short',
        queries: { '{{kind}}': 'sum by (kind) (wts_fairness_waiting)' },
      },
      {
        title: 'Memory of what is sent',
        unit: 'bytes',
        queries: {
          'ring {{instance}}': 'wts_hub_ring_bytes',
          'pages {{instance}}': 'wts_page_unsent_bytes',
          'sockets {{instance}}': 'wts_socket_unsent_bytes',
        },
      },
      {
        title: 'Trash and repeating tasks',
        unit: 's',
        queries: { 'purge late': 'max(wts_trash_overdue_seconds)', 'repeats late': 'max(wts_repeat_lag_seconds)' },
      },
      { title: 'Sweeps', unit: 'short', queries: { waiting: 'max(wts_sweep_waiting)' } },
      {
        title: 'Age of the log',
        description: 'Whole partitions are deleted, so the first entry may be older than the retention.',
        unit: 's',
        queries: { 'oldest entry': 'max(wts_log_oldest_seconds)', retention: 'max(wts_log_retention_seconds)' },
      },
      { title: 'Log on disk', unit: 'bytes', queries: { bytes: 'max(wts_log_bytes)' } },
    ],
  },
  graph: {
    title: 'Operations',
    graphs: [
      {
        title: 'Time of operations',
        unit: 's',
        queries: { 'p99 {{kind}}': quantile(0.99, 'wts_graphql_operation_seconds', '', 'kind') },
      },
      {
        title: 'How operations are answered',
        description: 'direct: one statement for each root field. The others are executed by levels.',
        unit: 'ops',
        queries: { '{{way}}': rate('wts_graphql_operations_total', 'way') },
      },
      { title: 'Errors', unit: 'ops', queries: { '{{code}}': rate('wts_graphql_errors_total', 'code') } },
      { title: 'Documents', unit: 'ops', queries: { '{{outcome}}': rate('wts_graphql_documents_total', 'outcome') } },
      {
        title: 'Memory of answers and documents',
        unit: 'bytes',
        queries: {
          'answers {{instance}}': 'wts_graphql_answers_bytes',
          'documents {{instance}}': 'wts_graphql_documents_bytes',
        },
      },
      {
        title: 'Reads of the database replica',
        description: 'Alert: ReplicaIsNotUsed.',
        unit: 'ops',
        queries: { '{{service}} {{outcome}}': rate('wts_replica_reads_total', 'service, outcome') },
      },
    ],
  },
  'webhook-dispatcher': {
    title: 'Deliveries',
    graphs: [
      {
        title: 'Events and deliveries',
        unit: 'ops',
        queries: { events: rate('wts_webhooks_events_total'), deliveries: rate('wts_webhooks_deliveries_total') },
      },
      {
        title: 'Attempts under way',
        description: 'Slow consumers have slots of their own.',
        unit: 'short',
        queries: { '{{pace}}': 'sum by (pace) (wts_webhooks_attempts_in_flight)' },
      },
      { title: 'Lanes', unit: 'short', queries: { '{{state}}': 'sum by (state) (wts_webhooks_lanes)' } },
      {
        title: 'Connections to consumers',
        unit: 'short',
        queries: { '{{instance}}': 'wts_webhooks_connections_open' },
      },
      {
        title: 'Endpoints switched off, addresses refused',
        unit: 'ops',
        queries: {
          'off: {{reason}}': rate('wts_webhooks_endpoints_disabled_total', 'reason'),
          'refused: {{where}}': rate('wts_webhooks_blocked_addresses_total', 'where'),
        },
      },
      {
        title: 'Outcomes not recorded',
        description: 'Alert: OutcomesAreNotRecorded.',
        unit: 'short',
        queries: { '{{instance}}': 'wts_webhooks_outcomes_unrecorded' },
      },
    ],
  },
  agent: {
    title: 'Tools',
    graphs: [
      { title: 'Calls', unit: 'ops', queries: { '{{tool}}': rate('wts_agent_tool_seconds_count', 'tool') } },
      { title: 'Outcomes', unit: 'ops', queries: { '{{outcome}}': rate('wts_agent_tool_seconds_count', 'outcome') } },
      { title: 'Time of a call', unit: 's', queries: quantiles('wts_agent_tool_seconds') },
    ],
  },
};

function commonRows(service: string, series: ReadonlySet<string>): readonly Row[] {
  const of = `{service="${service}"}`;
  const isMeasured = ({ queries }: Graph): boolean =>
    Object.values(queries).some((query) => series.has(/(?:wts|process|nodejs)_\w+/.exec(query)?.[0] ?? ''));
  return [requestRow(of), processRow(of)].map((row) => ({ ...row, graphs: row.graphs.filter(isMeasured) }));
}

function requestRow(of: string): Row {
  return {
    title: 'Requests',
    graphs: [
      {
        title: 'Requests by route',
        unit: 'reqps',
        queries: { '{{route}}': rate(`wts_http_request_duration_seconds_count${of}`, 'route') },
      },
      {
        title: 'Slowest routes',
        unit: 's',
        queries: { 'p99 {{route}}': `topk(8, ${quantile(0.99, 'wts_http_request_duration_seconds', of, 'route')})` },
      },
      {
        title: 'Requests to services',
        description: 'Each try by itself. Alert: ServicesDoNotAnswer.',
        unit: 'reqps',
        queries: {
          '{{to}}: {{outcome}}': rate(`wts_upstream_request_duration_seconds_count${of}`, 'to, outcome'),
        },
      },
      {
        title: 'Time of services',
        unit: 's',
        queries: { 'p99 {{to}}': quantile(0.99, 'wts_upstream_request_duration_seconds', of, 'to') },
      },
      {
        title: 'Connections to PostgreSQL',
        description: 'Waiting for more than a moment: alert PostgresConnectionsRunOut.',
        unit: 'short',
        queries: {
          '{{pool}} {{state}}': `sum by (pool, state) (wts_postgres_connections${of})`,
          '{{pool}} waiting': `sum by (pool) (wts_postgres_waiting${of})`,
        },
      },
      {
        title: 'Connections',
        description: 'Alert: ConnectionsRunOut.',
        unit: 'short',
        queries: {
          '{{instance}}': `wts_http_connections${of}`,
          'at most {{instance}}': `wts_http_connections_max${of}`,
        },
      },
    ],
  };
}

function processRow(of: string): Row {
  return {
    title: 'Processes',
    graphs: [
      {
        title: 'CPU',
        description: 'Cores. A process uses little more than one.',
        unit: 'short',
        queries: { '{{instance}}': rate(`process_cpu_seconds_total${of}`, 'instance') },
      },
      { title: 'Resident memory', unit: 'bytes', queries: { '{{instance}}': `process_resident_memory_bytes${of}` } },
      {
        title: 'Delay of the event loop',
        description: 'Alert: EventLoopIsBlocked.',
        unit: 's',
        queries: { 'p99 {{instance}}': `nodejs_eventloop_lag_p99_seconds${of}` },
      },
      {
        title: 'Background work, overdue',
        description: 'Alert: BackgroundWorkIsLate.',
        unit: 's',
        queries: { '{{work}}': `max by (work) (wts_background_lag_seconds${of})` },
      },
      {
        title: 'Background work, failures',
        unit: 'ops',
        queries: { '{{work}}': rate(`wts_background_failures_total${of}`, 'work') },
      },
      {
        title: 'Versions',
        description: 'Processes of each. Alert: VersionsDiffer.',
        unit: 'short',
        queries: { '{{version}} {{commit}}': `count by (version, commit) (wts_build_info${of})` },
      },
    ],
  };
}

function refusals(service: string): Graph {
  return {
    title: 'Refusals by code',
    unit: 'ops',
    queries: { '{{code}}': rate(`wts_refusals_total{service="${service}"}`, 'code') },
  };
}
