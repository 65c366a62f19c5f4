import type { JsonSchema, Principal, TypeOf } from '@wts/contracts';
import type { Graph } from '../graph/graph.ts';
import type { Names } from '@wts/client/names';

/** What a tool works with: the graph service and the names of one caller. */
export interface ToolContext {
  readonly principal: Principal;
  readonly graph: Graph;
  readonly names: Names;
  readonly now: () => Date;
}

/** The name is quoted because of its words: the tools reach nothing outside of this system. */
const OUTSIDE = 'openWorldHint';

/** What a tool changes, for the person who allows it. */
const ANNOTATIONS = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, [OUTSIDE]: false },
  /** Repeated, it makes one more. */
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, [OUTSIDE]: false },
  /** Repeated, it changes nothing more. */
  sets: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, [OUTSIDE]: false },
  removes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, [OUTSIDE]: false },
} as const;

export type Effect = keyof typeof ANNOTATIONS;

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model: what it does, when to use it, an example. */
  readonly description: string;
  /** Everything but `reads` needs the scope `write`. */
  readonly effect: Effect;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  readonly run: (args: never, context: ToolContext) => Promise<object>;
}

export type ObjectSchema = JsonSchema & { readonly type: 'object' };

/** Declares a tool. The types of its arguments and its result are those of its schemas. Keeps agent.tools.listed. */
export function tool<const Input extends ObjectSchema, const Output extends ObjectSchema>(
  definition: Omit<Tool, 'input' | 'output' | 'run'> & {
    readonly input: Input;
    readonly output: Output;
    readonly run: (args: TypeOf<Input>, context: ToolContext) => Promise<TypeOf<Output>>;
  },
): Tool {
  return definition;
}

/** The tool as `tools/list` shows it. */
export function listed({ name, title, description, effect, input, output }: Tool): ListedTool {
  return { name, title, description, inputSchema: input, outputSchema: output, annotations: ANNOTATIONS[effect] };
}

interface ListedTool extends Pick<Tool, 'name' | 'title' | 'description'> {
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: (typeof ANNOTATIONS)[Effect];
}
