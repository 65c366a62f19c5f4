import type { SyncClient } from '@wts/client';
import { createApiClient, GraphqlError, type ApiClient } from '@wts/client/api';
import { Names, type WorkspaceRef } from '@wts/client/names';
import { CliFault, usageFault } from '../fault.ts';
import type { Io } from '../io.ts';
import type { Options } from '../options.ts';
import type { Output } from '../output/output.ts';
import { notePauses, openFetch } from './fetch.ts';
import { VERSION } from '../version.ts';
import { readSettings, type Setting, type Settings } from './settings.ts';

/** The service as the person who is signed in. */
export interface Session {
  readonly settings: Settings;
  readonly server: { readonly url: string; readonly source: string };
  readonly token: Setting;
  readonly api: ApiClient;
  /** The same at another address of the service. */
  readonly at: (url: string) => Pick<ApiClient, 'listWorkspaces'>;
  readonly viewer: () => Promise<Viewer>;
  readonly names: () => Promise<Names>;
  readonly sync: () => Promise<SyncClient>;
  /** `fetch` with the notes and the debug lines of this command. */
  readonly fetch: typeof fetch;
  /** The workspace of a change: the chosen one, or the only one. */
  readonly workspace: () => Promise<WorkspaceRef>;
  /** The workspace of a list: the chosen one, or null for all. */
  readonly workspaceOrAll: () => Promise<WorkspaceRef | null>;
}

export interface Viewer {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly username: string | null;
}

const VIEWER = 'query CliViewer { viewer { id name email username } }';

const LISTED_BY = {
  workspace: 'wts workspace list',
  project: 'wts project list',
  team: 'wts team list',
  label: 'wts label list',
  person: 'wts workspace members',
  task: 'wts search, or wts task list,',
} as const;

export interface SessionParts {
  readonly io: Io;
  readonly options: Options;
  readonly output: Output;
}

export async function openSession({ io, options, output }: SessionParts): Promise<Session> {
  const settings = await readSettings(io, options);
  const { url, token, workspace: chosen } = settings;
  if (token === null) {
    const hint = 'Run wts login, or set WTS_TOKEN.';
    const isLocal = (io.env['WTS_LOCAL_STACK'] ?? '') !== '';
    throw new CliFault('sign-in', 'You are not signed in.', {
      hint: isLocal ? `Run npm start first. Or: ${hint}` : hint,
    });
  }
  if (url === null)
    throw usageFault(
      `${token.source} needs the address of its service.`,
      'Set WTS_URL, such as https://api.example.com',
    );
  if (!/^https?:\/\//i.test(url.value) || !URL.canParse(url.value))
    throw usageFault(
      `${url.source} is no address: ${JSON.stringify(url.value)}.`,
      'It is such as https://api.example.com',
    );
  const fetch = openFetch({ io, output });
  const server = { baseUrl: url.value, token: token.value, fetch, retry: notePauses(output) };
  const { graphql, ...operations } = createApiClient(server);
  const api: ApiClient = {
    ...operations,
    // After Ctrl-C the tool does not wait for what is only read; it waits for a change, because it may have to be undone.
    graphql: (query, variables, given) =>
      graphql<never>(query, variables, {
        ...(/\bmutation\b/.test(query) ? {} : { signal: io.interrupted }),
        ...given,
      }).catch(throwVersionFault),
  };
  let viewing: Promise<Viewer> | undefined;
  const viewer = (): Promise<Viewer> =>
    (viewing ??= api.graphql<{ viewer: Viewer }>(VIEWER).then(({ viewer: one }) => one));
  let naming: Promise<Names> | undefined;
  const names = (): Promise<Names> =>
    (naming ??= viewer().then(({ id }) => new Names({ run: api.graphql, userId: id, listedBy: LISTED_BY })));
  const workspaceOrAll = async (): Promise<WorkspaceRef | null> => (await names()).workspaceOrAll(chosen?.value);
  return {
    settings,
    server: { url: url.value, source: url.source },
    token,
    api,
    at: (baseUrl) => {
      // Never from https to clear text, in which the token could be read.
      if (!baseUrl.startsWith(new URL(url.value).protocol))
        throw new CliFault('failed', `${baseUrl} is not encrypted.`);
      return createApiClient({ ...server, baseUrl });
    },
    viewer,
    names,
    sync: async () => new (await import('@wts/client')).SyncClient({ ...server, clientId: CLIENT_ID }),
    fetch,
    workspaceOrAll,
    workspace: async () => {
      const workspace = await workspaceOrAll();
      if (workspace !== null) return workspace;
      const all = await (await names()).workspaces();
      if (all.length === 0)
        throw new CliFault('not-found', 'You are in no workspace yet.', {
          hint: 'Create one: wts workspace create "Acme"',
        });
      const known = all.map(({ name, urlKey }) => `${urlKey} (${name})`).join(', ');
      throw usageFault('Name the workspace: --workspace, or once wts workspace use.', `You are in ${known}.`);
    },
  };
}

/** As the validation of GraphQL says it. */
const UNKNOWN_TO_SERVICE = /^(?:Cannot query field|Unknown (?:argument|type)|Field ".+" is not defined by type) /;

/** The documents are those of this program, so a field that the service does not know shows that it is of another version. */
function throwVersionFault(cause: unknown): never {
  if (!(cause instanceof GraphqlError) || !UNKNOWN_TO_SERVICE.test(cause.message)) throw cause;
  const message = `The service does not understand this wts ${VERSION}: ${cause.message}`;
  const hint = 'It may be of another version: wts doctor shows both.';
  throw new CliFault('failed', message, { code: 'other_version', hint, requestId: cause.requestId, cause });
}

/** The name of this program in the log of changes. */
export const CLIENT_ID = 'wts';
