export { blocksOf, commandsOf, isTyped, printerOf, runningOf } from './blocks.ts';
export type { Block } from './blocks.ts';
