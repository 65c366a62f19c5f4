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
import { anyAcceptance, anyAction, anyLine, anyTransaction } from './model-schemas.ts';

type Json = Record<string, unknown>;

/** Schemas that get a name of their own; wherever a contract uses one of these objects, the name stands instead. */
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

/** What readers other than our own validator need: generators a type beside a constant, and formats that others know. */
function spelledOut({ pattern, format, type, ...rest }: JsonSchema): Json {
  // What the pattern says to a program, the format says to a person.
  if (pattern === UUID_PATTERN) return { format: 'uuid' };
  if (format === 'http-url') return { format: 'uri', pattern: '^https?://' };
  return 'const' in rest && type === undefined ? { type: typeof rest.const } : {};
}

/** A default is said in words: generators take a field that has one as always there, and ask for it in what is sent too. */
function inWords({ default: initial, ...schema }: Json): Json {
  const { description } = schema;
  if (initial === undefined || typeof description !== 'string')
    return initial === undefined ? schema : { ...schema, default: initial };
  return initial === null
    ? schema
    : { ...schema, description: `${description} Default: \`${JSON.stringify(initial)}\`.` };
}

/** Schemas of contracts as the description writes them, and those among them that have names. */
export class Schemas {
  readonly named: Json = {};

  /** The schema with named schemas inside it replaced by their names. */
  refer(schema: unknown): unknown {
    const name = NAMED.get(schema);
    return name === undefined ? this.#expand(schema) : this.#reference(name, schema);
  }

  #reference(name: string, schema: unknown): Json {
    if (!(name in this.named)) {
      // Its place is taken first: a schema may lead back to itself.
      this.named[name] = {};
      this.named[name] = this.#expand(this.#exactly(schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** What a contract leaves open about models, the registry of models says. */
  #exactly(schema: unknown): unknown {
    const name = (title: string, named: JsonSchema): Json => this.#reference(title, named);
    if (schema === syncActionSchema) return anyAction(name);
    if (schema === syncApi.syncTransactionSchema) return anyTransaction(name);
    if (schema === syncApi.bootstrapRecordSchema) return anyLine(name);
    return schema === syncApi.acceptedMutationSchema ? anyAcceptance(name) : schema;
  }

  #expand(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.refer(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [key, this.refer(value)]);
    return inWords({ ...Object.fromEntries(entries), ...spelledOut(schema as JsonSchema) });
  }
}
