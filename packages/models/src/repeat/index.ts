export { hasNoDay } from './rule-days.ts';
