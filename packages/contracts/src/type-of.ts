export type JsonSchema = Readonly<Record<string, unknown>>;

declare const TYPE: unique symbol;

/** A schema with an explicit type, which its keywords cannot express; at run time only the schema. */
export type Typed<T> = JsonSchema & { readonly [TYPE]: T };

export function typed<T>(schema: JsonSchema): Typed<T> {
  return schema as Typed<T>;
}

/**
 * The type of the values of a constant schema, for the keywords that contracts use. Used once where a contract is declared, never
 * with a type parameter, which TypeScript would expand for each of its users.
 */
export type TypeOf<Schema> =
  Schema extends Typed<infer T>
    ? T
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly const: infer Value }
        ? Value
        : Schema extends { readonly anyOf: readonly (infer Option)[] }
          ? Option extends unknown
            ? TypeOf<Option>
            : never
          : Schema extends { readonly type: infer Name }
            ? OfName<Schema, Name extends readonly (infer One)[] ? One : Name>
            : unknown;

type OfName<Schema, Name> = Name extends keyof Plain
  ? Plain[Name]
  : Name extends 'array'
    ? Schema extends { readonly items: infer Items }
      ? readonly TypeOf<Items>[]
      : readonly unknown[]
    : Schema extends { readonly properties: infer Properties }
      ? ObjectOf<Properties, Schema extends { readonly required: readonly (infer Name)[] } ? Name : never>
      : { readonly [field: string]: unknown };

interface Plain {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  null: null;
}

type ObjectOf<Properties, Required> = Whole<
  { readonly [Name in keyof Properties as Name extends Required ? Name : never]: TypeOf<Properties[Name]> } & {
    readonly [Name in keyof Properties as Name extends Required ? never : Name]?: TypeOf<Properties[Name]>;
  }
>;

/** One object type instead of an intersection: shorter in messages, and faster to compare. */
type Whole<T> = { [Name in keyof T]: T[Name] };
