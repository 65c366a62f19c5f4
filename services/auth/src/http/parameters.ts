import type { IncomingMessage } from 'node:http';
import type { Form } from '@wts/contracts';
import { parseForm } from '@wts/service-kit/http';

/** The parameters of a query or a form, for pages. */
export class Parameters implements Form {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];

  constructor({ values, repeated }: Form) {
    this.values = values;
    this.repeated = repeated;
  }

  /** Undefined for a parameter that is left out or empty. */
  get(name: string): string | undefined {
    return this.values.get(name);
  }

  /** An empty text for one that is left out. */
  text(name: string): string {
    return this.values.get(name) ?? '';
  }
}

export function queryOf({ url = '' }: IncomingMessage): Parameters {
  const start = url.indexOf('?');
  return new Parameters(parseForm(start === -1 ? '' : url.slice(start + 1)));
}
