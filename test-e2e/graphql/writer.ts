import { ask } from './call.ts';

/** The result of a change, with the record under `record`. */
export interface Changed {
  readonly success: boolean;
  readonly syncId: string | null;
  readonly lastSyncId: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly record: Record<string, unknown> & { readonly id: string };
}

export type Given = Readonly<Record<string, readonly [type: string, value: unknown]>>;

interface Options {
  /** The fields of the record. */
  readonly select?: string;
  /** The name of the record in the result. */
  readonly record?: string;
  readonly token?: string;
}

/** Changes records by mutations, as a client that writes its own documents. */
export class Writer {
  readonly #host: { readonly baseUrl: string };
  readonly #token: string;
  readonly #workspaceId: string;

  constructor(host: { readonly baseUrl: string }, token: string, workspaceId: string) {
    this.#host = host;
    this.#token = token;
    this.#workspaceId = workspaceId;
  }

  /** Calls one mutation; the record is under the name `record`. */
  async change(name: string, args: Given, { select = 'id', record = 'task', token }: Options = {}): Promise<Changed> {
    const entries = Object.entries(args);
    const declared = entries.map(([key, [type]]) => `$${key}: ${type}`).join(', ');
    const given = entries.map(([key]) => `${key}: $${key}`).join(', ');
    const query = `mutation (${declared}) {
      ${name}(${given}) { success syncId lastSyncId error { code message } record: ${record} { ${select} } }
    }`;
    const variables = Object.fromEntries(entries.map(([key, [, value]]) => [key, value]));
    const data = await ask<Record<string, Changed>>(this.#host, token ?? this.#token, query, variables);
    return data[name] as Changed;
  }

  /** Creates a task. */
  create(input: object, more: Given = {}, options: Options = {}): Promise<Changed> {
    const given = { workspaceId: this.#workspaceId, title: 'Task', ...input };
    return this.change('taskCreate', { input: ['TaskCreateInput!', given], ...more }, options);
  }

  /** Changes a task. */
  update(id: string, input: object, options: Options = {}): Promise<Changed> {
    return this.change('taskUpdate', { id: ['ID!', id], input: ['TaskUpdateInput!', input] }, options);
  }

  /** Completes a task, archives it and so on. */
  step(name: string, id: string, options: Options = {}): Promise<Changed> {
    return this.change(name, { id: ['ID!', id] }, options);
  }
}
