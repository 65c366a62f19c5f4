export type { Candidate, RunGraphql } from './kinds.ts';
export { NameError } from './name-error.ts';
export { Names, type NamesOptions, type WorkspaceRef } from './names.ts';
export { taskKey, taskOf, tasksOf, type TaskRef } from './tasks.ts';
