// The part of Fastify's types that the example uses: its forty packages are not worth the compilation of six lines.
declare module 'fastify' {
  interface Scope {
    addContentTypeParser(
      type: string,
      options: { parseAs: 'buffer' },
      parse: (request: object, body: Buffer, done: (error: Error | null, body?: unknown) => void) => void,
    ): void;
    post(path: string, handler: (request: Received, reply: Reply) => Promise<unknown>): void;
    register(plugin: (scope: Scope) => Promise<void>): void;
    listen(options: { port: number }): Promise<string>;
  }
  interface Received {
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly body: unknown;
  }
  interface Reply {
    code(status: number): { send(): Reply };
  }
  export default function fastify(): Scope;
}
