import { contract } from './contract.ts';

const ok = {
  type: 'object',
  additionalProperties: false,
  required: ['ok', 'status'],
  properties: { ok: { const: true }, status: { type: 'string' } },
} as const;

export const health = contract<{ reply: { ok: true; status: 'up' } }>({
  id: 'health',
  method: 'GET',
  path: '/health',
  summary: 'Is the process up',
  tag: 'Meta',
  scope: 'none',
  reply: { status: 200, schema: ok, example: { ok: true, status: 'up' } },
  errors: [],
});

export const ready = contract<{ reply: { ok: true; status: 'ready' } }>({
  id: 'ready',
  method: 'GET',
  path: '/ready',
  summary: 'Does the database answer',
  tag: 'Meta',
  scope: 'none',
  reply: { status: 200, schema: ok, example: { ok: true, status: 'ready' } },
  errors: ['unavailable'],
});

export const description = contract<{ reply: object }>({
  id: 'openapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This description',
  tag: 'Meta',
  scope: 'none',
  reply: { status: 200, schema: { type: 'object' } },
  errors: [],
});
