import { buildSchema, isEnumType } from 'graphql';
import { Pool } from 'undici';
import { Operations, type Operation, type OperationsOptions } from './graphql-operations.ts';

export interface GraphqlFuzzOptions extends OperationsOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly seed: number;
  readonly operations: number;
}

export interface GraphqlFuzzReport {
  readonly operations: number;
  /** How many answers had data alone, and how many had an error of each code. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

/** Texts that no error may contain: stack traces, SQL, errors of connections. */
const INTERNALS = /node_modules|\bat \S+\.[jt]s:\d+|\bselect .+ from |\binsert into |\bpg_|\bECONN|INTERNAL_TOKEN/;

const SLOW_MS = 12_000;
const CONCURRENT = 8;
const FAULTS_MAX = 5;

/**
 * Sends operations that are made from the schema, most of them valid, and checks the answers: no 5xx, every error with a code of the
 * closed list, none of them internal, and nothing of a stranger. Keeps graphql.fuzzed.
 */
export async function fuzzGraphql(options: GraphqlFuzzOptions): Promise<GraphqlFuzzReport> {
  const { baseUrl, token, seed, strange } = options;
  const secrets = [...strange.ids, ...strange.texts];
  const pool = new Pool(baseUrl, { connections: CONCURRENT });
  try {
    const sdl = await (await pool.request({ method: 'GET', path: '/graphql/schema.graphql' })).body.text();
    const schema = buildSchema(sdl);
    const codes = schema.getType('ErrorCode');
    const closed = new Set(isEnumType(codes) ? codes.getValues().map(({ name }) => name) : []);
    const made = new Operations(schema, seed, options);
    const outcomes: Record<string, number> = {};
    const faults: string[] = [];
    let left = options.operations;

    const count = (outcome: string): void => {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    };
    const tryOne = async (operation: Operation): Promise<string | null> => {
      const startedAt = performance.now();
      const { statusCode, body } = await pool.request({
        method: 'POST',
        path: '/graphql',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(operation),
      });
      const text = await body.text();
      if (statusCode >= 500) return `answered ${statusCode}: ${text.slice(0, 300)}`;
      if (performance.now() - startedAt > SLOW_MS) return 'took too long';
      const shown = secrets.find((secret) => text.includes(secret));
      if (shown !== undefined && !isEcho(text, shown)) return `showed ${shown}: ${text.slice(0, 500)}`;
      if (statusCode !== 200) {
        count(String(statusCode));
        return statusCode === 400 ? null : `answered ${statusCode}: ${text.slice(0, 300)}`;
      }
      const { errors = [] } = JSON.parse(text) as Answer;
      if (errors.length === 0) count('data');
      for (const { message, extensions: { code = 'none' } = {} } of errors) {
        count(code);
        if (!closed.has(code) || code === 'INTERNAL') return `has an error ${code}: ${message}`;
        if (INTERNALS.test(message)) return `showed internals: ${message}`;
      }
      return null;
    };
    const worker = async (): Promise<void> => {
      while (left > 0 && faults.length < FAULTS_MAX) {
        left -= 1;
        const operation = made.next();
        const fault = await tryOne(operation);
        if (fault !== null) faults.push(`${fault}\n  ${JSON.stringify(operation).slice(0, 3000)}\n  seed ${seed}`);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, worker));
    return { operations: options.operations - left, outcomes, faults };
  } finally {
    await pool.close();
  }
}

/** An error may quote the value that the operation itself has. */
function isEcho(text: string, secret: string): boolean {
  const { data, errors = [] } = JSON.parse(text) as Answer;
  return !JSON.stringify(data ?? null).includes(secret) && errors.some(({ message }) => message.includes(secret));
}
