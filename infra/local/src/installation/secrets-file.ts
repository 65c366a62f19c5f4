import { readFileSync } from 'node:fs';
import { UserError } from '../user-error.ts';

/** The secrets of an installation by their keys: a file of lines KEY=value, or a Secret of Kubernetes as JSON. */
export type SecretValues = Readonly<Record<string, string>>;

export interface SecretsFile {
  readonly values: SecretValues;
  /** The text of the same file with other values. */
  readonly write: (values: SecretValues) => string;
}

/** The text of a file that a person named. */
export function secretsFileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UserError(`The file of secrets ${path} cannot be read (${(cause as NodeJS.ErrnoException).code}).`, {
      cause,
    });
  }
}

export function readSecretsFile(text: string): SecretsFile {
  if (text.trim() === '') throw new UserError('The file of secrets is empty.');
  return text.trimStart().startsWith('{') ? readSecret(text) : readLines(text);
}

export function envText(values: SecretValues): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/** As `kubectl create -f -` and `kubectl replace -f -` take it. */
export function secretText(values: SecretValues, metadata: object = { name: 'wts-secrets' }, type = 'Opaque'): string {
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, type, data }, null, 2)}\n`;
}

const LINE = /^([A-Z][A-Z0-9_]*)=(.*)$/;

/** Comments and blank lines stay, and so does the order. */
function readLines(text: string): SecretsFile {
  const lines = text.trimEnd().split('\n');
  const values: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, key, value] = LINE.exec(line) ?? [];
    if (key === undefined || value === undefined)
      throw new UserError(`Line ${index + 1} of the file of secrets is not KEY=value.`);
    values[key] = value;
  }
  return {
    values,
    write: (changed) => {
      const kept = lines.flatMap((line) => {
        const key = LINE.exec(line)?.[1];
        if (key === undefined) return [line];
        return changed[key] === undefined ? [] : [`${key}=${changed[key]}`];
      });
      const added = Object.fromEntries(Object.entries(changed).filter(([key]) => values[key] === undefined));
      return `${kept.join('\n')}\n${envText(added)}`;
    },
  };
}

/** Of `kubectl apply`, with the values of before. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

interface Secret {
  readonly kind?: unknown;
  readonly type?: string;
  readonly metadata?: { readonly [field: string]: unknown };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

function readSecret(text: string): SecretsFile {
  let secret: Secret;
  try {
    secret = JSON.parse(text) as Secret;
  } catch {
    // The message of the parser quotes the text.
    throw new UserError('The file of secrets begins like JSON and is none.');
  }
  if (secret.kind !== 'Secret')
    throw new UserError('The JSON is no Secret of Kubernetes: take it from "kubectl get secret wts-secrets -o json".');
  const { data = {}, stringData = {}, metadata = {} } = secret;
  const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
  // What the cluster adds is not sent back to it.
  const { name, namespace, labels, annotations = {} } = metadata;
  const { [LAST_APPLIED]: _, ...kept } = annotations as Record<string, string>;
  return {
    values: { ...(Object.fromEntries(decoded) as SecretValues), ...stringData },
    write: (changed) => secretText(changed, { name, namespace, labels, annotations: kept }, secret.type),
  };
}
