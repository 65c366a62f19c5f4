import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';

export const PREFIX = '/some/prefix';

/** A proxy that serves the gateway under a path prefix and removes it. */
export async function startPrefixProxy(port: number, to: number): Promise<Server> {
  const server = createServer((req, res) => {
    const path = req.url ?? '';
    if (!path.startsWith(`${PREFIX}/`)) {
      res.writeHead(404).end();
      return;
    }
    const onward = forward(
      { port: to, host: '127.0.0.1', method: req.method, path: path.slice(PREFIX.length), headers: req.headers },
      (reply) => {
        res.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(res);
      },
    );
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
