import assert from 'node:assert/strict';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const INFO = { name: 'wts-test', version: '1.0.0' };

export interface ToolAnswer {
  readonly isError: boolean;
  /** The text for the model. */
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A client of the agent endpoint, of either generation of the SDK. */
export interface AgentClient extends AsyncDisposable {
  readonly client: ModernClient | LegacyClient;
  call(tool: string, args?: object): Promise<ToolAnswer>;
}

export const GENERATIONS = { 'SDK 1 (2025)': connectLegacy, 'SDK 2 (2026-07-28)': connectModern } as const;

async function connectModern(authUrl: string, token: string): Promise<AgentClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new ModernTransport(new URL('/mcp', authUrl), withToken(token)));
  return agentClient(client);
}

async function connectLegacy(authUrl: string, token: string): Promise<AgentClient> {
  const client = new LegacyClient(INFO);
  await client.connect(new LegacyTransport(new URL('/mcp', authUrl), withToken(token)));
  return agentClient(client);
}

function withToken(token: string): { requestInit: RequestInit } {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

function agentClient(client: ModernClient | LegacyClient): AgentClient {
  return {
    client,
    call: async (name, args = {}) => {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: { ...args } });
      const [first] = content as { type: string; text: string }[];
      const value = (structuredContent ?? {}) as Record<string, unknown>;
      return { isError: isError === true, text: first?.text ?? '', value };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The value of an answer that is no error. */
export function ok<Value = ToolAnswer['value']>(answer: ToolAnswer): Readonly<Value> {
  assert.ok(!answer.isError, answer.text);
  assert.deepEqual(JSON.parse(answer.text), answer.value);
  return answer.value as Value;
}

/** The text of an answer that is an error, which must say nothing of the inside of the system. */
export function refused(answer: ToolAnswer, pattern: RegExp): string {
  assert.ok(answer.isError, answer.text);
  assert.match(answer.text, pattern);
  assert.doesNotMatch(answer.text, /^internal|undefined|\bat \w+ \(|select /);
  return answer.text;
}
