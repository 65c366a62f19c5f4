import {
  UUID_PATTERN,
  apiKeyApi,
  errorBodySchema,
  memberApi,
  syncActionSchema,
  syncApi,
  workspaceApi,
} from '@wts/contracts';
import type { JsonSchema } from '@wts/contracts';
import { typedAcceptedMutation, typedAction, typedLine, typedTransaction } from './model-schemas.ts';

type Json = Record<string, unknown>;

/** Schemas with a name; the description refers to them by it wherever a contract uses one of these objects. */
const NAMED = new Map<unknown, string>([
  [errorBodySchema, 'Error'],
  [workspaceApi.workspaceSchema, 'Workspace'],
  [memberApi.memberSchema, 'Member'],
  [memberApi.invitationSchema, 'Invitation'],
  [apiKeyApi.keySchema, 'ApiKey'],
  [syncActionSchema, 'SyncAction'],
  [syncApi.syncTransactionSchema, 'SyncTransaction'],
  [syncApi.acceptedMutationSchema, 'AcceptedMutation'],
  [syncApi.bootstrapStartSchema, 'BootstrapStart'],
  [syncApi.bootstrapRecordSchema, 'BootstrapRecord'],
  [syncApi.bootstrapEndSchema, 'BootstrapEnd'],
]);

/** Changes that generators need: a type next to each constant, and standard formats instead of our own. */
function forGenerators({ pattern, format, type, ...rest }: JsonSchema): Json {
  // The format is clearer than the pattern.
  if (pattern === UUID_PATTERN) return { format: 'uuid' };
  if (format === 'http-url') return { format: 'uri', pattern: '^https?://' };
  return 'const' in rest && type === undefined ? { type: typeof rest.const } : {};
}

/** Moves a default into the text, because generators make a field with a default required, also in requests. */
function withDefaultAsText({ default: initial, ...schema }: Json): Json {
  const { description } = schema;
  if (initial === undefined || typeof description !== 'string')
    return initial === undefined ? schema : { ...schema, default: initial };
  return initial === null
    ? schema
    : { ...schema, description: `${description} Default: \`${JSON.stringify(initial)}\`.` };
}

/** Collects the named schemas while it converts the schemas of contracts for the description. */
export class Schemas {
  readonly named: Json = {};

  /** The schema with named schemas inside it replaced by their names. */
  refer(schema: unknown): unknown {
    const name = NAMED.get(schema);
    return name === undefined ? this.#expand(schema) : this.#reference(name, schema);
  }

  #reference(name: string, schema: unknown): Json {
    if (!(name in this.named)) {
      // Set first, because a schema may refer to itself.
      this.named[name] = {};
      this.named[name] = this.#expand(this.#withModels(schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Replaces schemas of contracts that allow any model by the exact schemas of the registry. */
  #withModels(schema: unknown): unknown {
    const name = (title: string, named: JsonSchema): Json => this.#reference(title, named);
    if (schema === syncActionSchema) return typedAction(name);
    if (schema === syncApi.syncTransactionSchema) return typedTransaction(name);
    if (schema === syncApi.bootstrapRecordSchema) return typedLine(name);
    return schema === syncApi.acceptedMutationSchema ? typedAcceptedMutation(name) : schema;
  }

  #expand(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.refer(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [key, this.refer(value)]);
    return withDefaultAsText({ ...Object.fromEntries(entries), ...forGenerators(schema as JsonSchema) });
  }
}
