export { blocksOf, commandsOf, isTyped, printerOf, runningOf, type Block } from './blocks.ts';
