import { errorBody, Fault, HEADERS, memberApi, type Principal, type ReplyOf } from '@wts/contracts';
import { readerFor } from '@wts/testkit';
import { json } from 'node:stream/consumers';
import { openServer } from './open-server.ts';

export type Invitation = ReplyOf<typeof memberApi.internalReadInvitation>['invitation'];

/** Stands for the workspace service: it has invitations, and records who reads them and who joins. */
export interface WorkspaceStandIn extends AsyncDisposable {
  readonly url: string;
  readonly invitations: Map<string, Invitation | Fault>;
  /** Who read an invitation: the wrong codes of a person are counted for them. */
  readonly readers: { readonly code: string; readonly principal: Principal }[];
  readonly joined: { readonly code: string; readonly address: string | null; readonly principal: Principal }[];
  /** The next call of `internalJoinWorkspace` fails with it. */
  failure: Fault | null;
}

export async function openWorkspaceStandIn(): Promise<WorkspaceStandIn> {
  const read = readerFor('workspace');
  const server = await openServer((req, res) => {
    void (async () => {
      const send = (status: number, body: object): void =>
        void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const { caller, principal } = read(String(req.headers[HEADERS.principal]));
      const { code, address = null } = (await json(req)) as { code: string; address?: string | null };
      const found = standIn.invitations.get(code) ?? new Fault('not_found');
      const isJoin = req.url === memberApi.internalJoinWorkspace.path;
      const { failure } = standIn;
      if (isJoin) standIn.failure = null;
      else standIn.readers.push({ code, principal });
      const fault =
        caller === 'auth' ? (found instanceof Fault ? found : isJoin ? failure : null) : new Fault('token_invalid');
      if (fault !== null) return send(fault.status, errorBody(fault));
      if (!isJoin) return send(200, { ok: true, invitation: found });
      standIn.joined.push({ code, address, principal });
      return send(200, { ok: true, role: 'member' });
    })();
  });
  const standIn: WorkspaceStandIn = {
    url: server.url,
    invitations: new Map(),
    readers: [],
    joined: [],
    failure: null,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return standIn;
}
