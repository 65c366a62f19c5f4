import assert from 'node:assert/strict';
import { linkText } from './links.ts';

const ADDRESS = 'https://login.example.com/a?b=c';

describe('an address', () => {
  const shown = (env: Readonly<Record<string, string>>, address = ADDRESS, stderr = true): string =>
    linkText(address, { env, isTty: { stdin: true, stdout: true, stderr } });

  it('is a link in a terminal that is known to have them, and else a text', () => {
    const link = `\u001B]8;;${ADDRESS}\u001B\\${ADDRESS}\u001B]8;;\u001B\\`;
    for (const env of [
      { TERM: 'xterm-kitty' },
      { TERM: 'xterm-256color', VTE_VERSION: '7200' },
      { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' },
      { TERM: 'xterm-256color', FORCE_HYPERLINK: '1' },
    ] as const)
      assert.equal(shown(env), link, JSON.stringify(env));
    for (const env of [
      {},
      { TERM: 'xterm-256color' },
      { TERM: 'dumb', VTE_VERSION: '7200' },
      { TERM: 'tmux-256color', VTE_VERSION: '7200' },
      { TERM: 'xterm-kitty', FORCE_HYPERLINK: '0' },
    ] as const)
      assert.equal(shown(env), ADDRESS, JSON.stringify(env));
    assert.equal(shown({ TERM: 'xterm-kitty' }, ADDRESS, false), ADDRESS);
  });

  it('brings no control character of a server into the terminal', () => {
    const text = shown({ TERM: 'xterm-kitty' }, 'https://login.example.com/\u001B]52;c;x\u0007');
    assert.equal(
      text
        .replaceAll('\u001B]8;;', '')
        .replaceAll('\u001B\\', '')
        .search(/\p{Cc}/u),
      -1,
    );
  });
});
