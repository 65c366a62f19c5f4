import type { ArgSpec, CommandSpec, OptionSpec } from '../spec.ts';
import { verbsOf } from './verbs.ts';

const ENDPOINT: ArgSpec = {
  form: '<endpoint>',
  about: 'Its id, the beginning of it, a part of its address, or its description.',
};
const EVENT: OptionSpec = {
  flags: '-e, --event <types>',
  about: 'Event types such as task.created, separated by commas. Default: all.',
  isRepeated: true,
};
const DESCRIPTION: OptionSpec = { flags: '-d, --description <text>', about: 'What the endpoint is for.' };
const ENDPOINT_FIELDS =
  'id workspaceId url description eventTypes enabled consecutiveFailures disabledAt disabledReason createdAt updatedAt'.split(
    ' ',
  );
const DELIVERY_FIELDS =
  'id endpointId eventId eventType status attemptCount createdAt payload completedAt lastAttemptAt nextAttemptAt lastStatusCode lastResponseSnippet lastError'.split(
    ' ',
  );

const endpoints = () => import('../../commands/webhook.ts');
const deliveries = () => import('../../commands/webhook-deliveries.ts');

export const WEBHOOK: CommandSpec = {
  name: 'webhook',
  summary: 'Manage webhook endpoints and their deliveries',
  commands: [
    ...verbsOf({ fields: ENDPOINT_FIELDS }, endpoints, {
      list: {
        summary: 'List the webhook endpoints of the workspace',
        examples: [
          {
            command: 'wts webhook list',
            prints:
              'ID        URL                        EVENTS  STATE\nbcd00620  https://example.com/hooks  all     enabled',
          },
        ],
      },
      create: {
        summary: 'Create a webhook endpoint, and print its secret once',
        examples: [{ command: 'wts webhook create https://example.com/hooks --event task.created,task.completed' }],
        args: [{ form: '<url>', about: 'The public https address that receives the events.' }],
        options: [EVENT, DESCRIPTION],
        fields: [...ENDPOINT_FIELDS, 'secret'],
      },
      edit: {
        summary: 'Change a webhook endpoint',
        examples: [{ command: 'wts webhook edit example.com --event all --enable' }],
        args: [ENDPOINT],
        options: [
          { flags: '--url <url>', about: 'The new address.' },
          { ...EVENT, about: 'Event types in place of those before; "all" for all.' },
          DESCRIPTION,
          { flags: '--enable', about: 'Go on with deliveries.' },
          { flags: '--disable', about: 'Make no deliveries.' },
        ],
      },
      test: {
        summary: 'Send an event endpoint.test',
        args: [ENDPOINT],
        fields: DELIVERY_FIELDS,
        examples: [{ command: 'wts webhook test example.com' }],
      },
    }),
    ...verbsOf({ args: [ENDPOINT], fields: DELIVERY_FIELDS }, deliveries, {
      deliveries: {
        summary: 'List the deliveries of an endpoint, the newest first',
        examples: [{ command: 'wts webhook deliveries example.com --status failed' }],
        options: [
          { flags: '-s, --status <status>', about: 'Only these.', choices: ['pending', 'succeeded', 'failed'] },
          { flags: '-L, --limit <number>', about: 'At most so many. Default: 25.' },
        ],
      },
      retry: {
        summary: 'Attempt a delivery once more',
        args: [ENDPOINT, { form: '<delivery>', about: 'Its id, or the beginning of it.' }],
        examples: [{ command: 'wts webhook retry example.com ecca8a24' }],
      },
    }),
    ...verbsOf({ args: [ENDPOINT] }, deliveries, {
      replay: {
        summary: 'Attempt all failed deliveries since a time once more',
        examples: [{ command: 'wts webhook replay example.com --since 2h' }],
        options: [{ flags: '--since <time>', about: 'Such as 30m, 2h, 3d, or 2026-12-01T09:00:00Z.' }],
      },
    }),
    ...verbsOf({ args: [ENDPOINT] }, endpoints, {
      rotate: {
        summary: 'Make a new secret, and print it once',
        fields: [...ENDPOINT_FIELDS, 'secret'],
        examples: [{ command: 'wts webhook rotate example.com' }],
      },
    }),
    ...verbsOf({}, () => import('../../commands/webhook-listen.ts'), {
      listen: {
        summary: 'Receive, verify and print events on this machine, and forward them to a program',
        about:
          'Makes an endpoint for as long as it runs. The service that npm start runs delivers to this machine directly; another one to --url, the https address of a tunnel to --port.',
        examples: [
          { command: 'wts webhook listen --forward-to http://localhost:3000/hooks' },
          { command: 'wts webhook listen --port 8080 --url https://my-name.tunnel.example --event task.created' },
        ],
        options: [
          EVENT,
          {
            flags: '-f, --forward-to <url>',
            about: 'Send each event on, unchanged; its answer is that of the delivery.',
          },
          { flags: '--status <number>', about: 'Answer every delivery with this HTTP status. Default: 204.' },
          { flags: '--port <number>', about: 'Listen on this port of 127.0.0.1. Default: a free one.' },
          { flags: '--url <url>', about: 'The public address by which the service reaches the port.' },
          { flags: '--cert <file>', about: 'Serve https with this certificate (PEM).' },
          { flags: '--key <file>', about: 'The key of the certificate (PEM).' },
        ],
      },
    }),
    ...verbsOf({ args: [ENDPOINT], fields: ENDPOINT_FIELDS }, endpoints, {
      remove: {
        summary: 'Delete a webhook endpoint with its deliveries',
        examples: [{ command: 'wts webhook delete example.com' }],
      },
    }),
  ],
};
