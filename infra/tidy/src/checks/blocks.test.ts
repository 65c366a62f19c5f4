import assert from 'node:assert/strict';
import { plantedTree } from '../tree.ts';
import { absentScripts, unmarkedBlocks } from './blocks.ts';

const FENCE = '```';
const messagesOf = (info: string, ...lines: string[]) =>
  unmarkedBlocks(plantedTree({ 'README.md': [`${FENCE}${info}`, ...lines, FENCE].join('\n') })).map(
    ({ line, message }) => `${line} ${message}`,
  );

describe('blocks of documents', () => {
  it('are refused when they do not say whether a test runs them', () => {
    assert.match(messagesOf('', 'npm start').join(), /^1 "" is no kind of block/);
    assert.match(messagesOf('bash', 'npm start').join(), /"bash" is no kind of block/);
    assert.match(messagesOf('sh later', 'npm start').join(), /"later" is no mark/);
    assert.match(messagesOf('sh not run:', 'npm start').join(), /"not run:" is no mark/);
    assert.match(messagesOf('text some words', 'a').join(), /"some words" is no mark/);
  });

  it('are refused when a command is called output or code', () => {
    for (const command of ['$ ls', 'npm run bench', 'PORT=1 npm start', 'curl -s http://a', 'npx -y a', 'export A=b'])
      assert.match(messagesOf('text', command).join(), /this has a command/, command);
    assert.match(messagesOf('json', '{ "a": }').join(), /not valid JSON/);
    assert.match(messagesOf('console keeps running', '$ a', '$ b').join(), /has one command/);
  });

  it('are accepted with a mark', () => {
    for (const info of ['console', 'sh', 'console keeps running', 'console not run: needs Codex'])
      assert.deepEqual(messagesOf(info, '$ npm start', 'Ready'), [], info);
    assert.deepEqual(messagesOf('text printed by npm run watch', 'Ready'), []);
    assert.deepEqual(messagesOf('json', '{ "a": 1 }'), []);
  });

  it('and sentences are refused when they name a script that does not exist', () => {
    const tree = plantedTree({
      'package.json': '{"scripts":{"start":"","verify:log":""}}',
      'packages/a/package.json': '{"scripts":{"build":""}}',
      'packages/a/README.md': '`npm run build` of `npm start`',
      'README.md': '`npm start` and `npm run verify:log`\n`npm run verify:logs`, `npm test`',
    });
    assert.deepEqual(
      absentScripts(tree).map(({ line, message }) => `${line} ${message}`),
      ['2 there is no script "verify:logs" in package.json', '2 there is no script "test" in package.json'],
    );
  });
});
