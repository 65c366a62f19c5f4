import { tokenReader } from '@wts/access';
import { errorBody, Fault, HEADERS, memberApi, type Principal } from '@wts/contracts';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Invitation {
  readonly workspaceName: string;
  readonly email: string | null;
}

/** Stands for the workspace service: it knows invitations, and records who joins. */
export interface WorkspaceStandIn extends AsyncDisposable {
  readonly url: string;
  readonly invitations: Map<string, Invitation | Fault>;
  readonly joined: { readonly code: string; readonly address: string | null; readonly principal: Principal }[];
  /** The next call of `internalJoinWorkspace` fails with it. */
  failure: Fault | null;
}

export async function openWorkspaceStandIn(secret: string): Promise<WorkspaceStandIn> {
  const read = tokenReader('workspace', [secret]);
  const server = createServer((req, res) => {
    void (async () => {
      const send = (status: number, body: object): void =>
        void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const { caller, principal } = read(String(req.headers[HEADERS.principal]));
      const { code, address = null } = JSON.parse(await textOf(req)) as { code: string; address?: string | null };
      const found = standIn.invitations.get(code) ?? new Fault('not_found');
      const isJoin = req.url === memberApi.internalJoinWorkspace.path;
      const { failure } = standIn;
      if (isJoin) standIn.failure = null;
      const fault =
        caller === 'auth' ? (found instanceof Fault ? found : isJoin ? failure : null) : new Fault('token_invalid');
      if (fault !== null) return send(fault.status, errorBody(fault));
      if (!isJoin) return send(200, { ok: true, invitation: found });
      standIn.joined.push({ code, address, principal });
      return send(200, { ok: true, role: 'member' });
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const standIn: WorkspaceStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    invitations: new Map(),
    joined: [],
    failure: null,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return standIn;
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of req) text += String(part);
  return text;
}
