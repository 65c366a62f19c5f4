import type { JsonSchema, TypeOf } from '../../type-of.ts';

/** One message of the WebSocket as data, like `Contract` for HTTP. Every message is JSON with its name in `type`. */
export interface FrameContract<Frame = unknown> {
  readonly type: string;
  readonly to: 'server' | 'client';
  /** In the description. */
  readonly description: string;
  readonly schema: JsonSchema;
  /** In the description. */
  readonly example: Frame;
}

/** Declares a message; its type is derived from its schema. */
export function frame<const Schema extends JsonSchema>(
  declared: Omit<FrameContract, 'schema' | 'example'> & {
    readonly schema: Schema;
    readonly example: NoInfer<TypeOf<Schema>>;
  },
): FrameContract<TypeOf<Schema>> {
  return declared;
}

export type FrameOf<C> = C extends FrameContract<infer Frame> ? Frame : never;
