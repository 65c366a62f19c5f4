import type { JsonSchema } from '../../contract.ts';

/**
 * One message of the WebSocket as data, as `Contract` is for HTTP: the schema is what runs, the type stands beside it.
 * Every message is a JSON text that `type` names.
 */
export interface FrameContract<F extends { readonly type: string } = { readonly type: string }> {
  readonly type: F['type'];
  readonly to: 'server' | 'client';
  /** For readers of the description. */
  readonly description: string;
  readonly schema: JsonSchema;
  /** Shown in the description. */
  readonly example: F;
}
