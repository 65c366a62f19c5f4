import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';

export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** One operation of the description, with resolved references. */
export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Schema; readonly required: boolean } | null;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
}

interface RawOperation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content | { readonly $ref: string }>>;
}

/** The OpenAPI description: its operations, resolved references, and validation of values. */
export class Description {
  readonly operations: readonly ApiOperation[];
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });

  constructor(document: unknown) {
    this.#document = document as Document;
    // The types of the package do not match its default export in Node.
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addFormat('idn-email', /^[^\s@]+@[^\s@]+\.[^\s@]+$/u);
    this.#ajv.addSchema(this.#document, 'api');
    this.operations = Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, raw]) => this.#operation(path, method, raw)),
    );
  }

  /** The schema itself, or the one it refers to. */
  follow(schema: Schema): Schema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const keys = $ref.replace('#/', '').split('/');
    return keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], this.#document) as Schema;
  }

  /** The error of a value; null when it matches the schema. */
  errorOf(schema: Schema, value: unknown): string | null {
    const validate = this.#ajv.compile(absolute(schema));
    return validate(value) ? null : this.#ajv.errorsText(validate.errors);
  }

  #operation(path: string, method: string, raw: RawOperation): ApiOperation {
    const { operationId: id, parameters = [], requestBody, responses } = raw;
    const schema = requestBody?.content?.['application/json']?.schema;
    return {
      id,
      method: method.toUpperCase(),
      path,
      parameters: parameters.map((one) => this.follow(one as Schema) as unknown as Parameter),
      body: schema === undefined ? null : { schema: this.follow(schema), required: requestBody?.required === true },
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, one]) => [status, this.follow(one as Schema) as Content]),
      ),
    };
  }
}

const made = new WeakMap<object, Schema>();

/** Makes the references of a schema absolute, because it is compiled outside its document. */
function absolute(schema: Schema): Schema {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/');
  const copy = JSON.parse(text) as Schema;
  made.set(schema, copy);
  return copy;
}
