export { dayOf, todayIn, type Today } from './days.ts';
export { between, stateOf, TASK_LISTS, TASK_STATES, tasksOfList, type TaskList, type TaskState } from './lists.ts';
export { PRIORITIES, type Priority } from './priorities.ts';
export { repeatText } from './repeat-text.ts';
export { WordError } from './word-error.ts';
