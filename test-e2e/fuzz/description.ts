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

/** One operation of the description, with what its references point at. */
export interface Operation {
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

/** The description as its readers use it: operations, what a reference means, whether a value fits a schema. */
export class Description {
  readonly operations: readonly Operation[];
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });

  constructor(document: unknown) {
    this.#document = document as Document;
    // Node's build of the package says `default` twice.
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

  /** What is wrong with a value; null when it fits. */
  faultOf(schema: Schema, value: unknown): string | null {
    const validate = this.#ajv.compile(absolute(schema));
    return validate(value) ? null : this.#ajv.errorsText(validate.errors);
  }

  #operation(path: string, method: string, raw: RawOperation): Operation {
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

/** References of a schema that stands alone must say in which document they are. */
function absolute(schema: Schema): Schema {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/');
  const copy = JSON.parse(text) as Schema;
  made.set(schema, copy);
  return copy;
}
