import type { Action } from '../../call.ts';
import type { CommandSpec } from '../spec.ts';

/** A command that is named as its action, unless it has a name of its own. */
type Verb = Omit<CommandSpec, 'name' | 'commands' | 'load'> & { readonly name?: string };

/** The verbs of a module, by the names of the actions that it exports. */
type VerbsOf<Module> = {
  readonly [Name in keyof Module as Module[Name] extends Action ? Name : never]?: Verb;
};

/**
 * The commands whose actions are in one module. The action `endSessions` is the command `end-sessions`, and `remove` is `delete`, which
 * is no name of a function. What `common` has, a command has that does not say it itself.
 */
export function verbsOf<Module extends object>(
  common: Pick<CommandSpec, 'args' | 'fields'>,
  load: () => Promise<Module>,
  verbs: VerbsOf<Module>,
): CommandSpec[] {
  return Object.entries(verbs as Readonly<Record<string, Verb>>).map(([action, verb]) => ({
    name: action === 'remove' ? 'delete' : action.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    ...common,
    ...verb,
    load: async () => (await load())[action as keyof Module] as Action,
  }));
}
