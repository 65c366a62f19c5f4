import type { JsonSchema, TypeOf } from '../../type-of.ts';

/** One message of the WebSocket as data, as `Contract` is for HTTP. Every message is a JSON text that `type` names. */
export interface FrameContract<Frame = unknown> {
  readonly type: string;
  readonly to: 'server' | 'client';
  /** For readers of the description. */
  readonly description: string;
  readonly schema: JsonSchema;
  /** Shown in the description. */
  readonly example: Frame;
}

/** Declares a message; its type follows from its schema. */
export function frame<const Schema extends JsonSchema>(
  declared: Omit<FrameContract, 'schema' | 'example'> & {
    readonly schema: Schema;
    readonly example: NoInfer<TypeOf<Schema>>;
  },
): FrameContract<TypeOf<Schema>> {
  return declared;
}

export type FrameOf<C> = C extends FrameContract<infer Frame> ? Frame : never;
