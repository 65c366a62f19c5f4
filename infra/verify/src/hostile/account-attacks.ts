import type { Attack, Attacker } from './attacker.ts';
import { CONTENT_MARK, freshId, template, type HttpCaller, type RequestOptions } from './http-caller.ts';

/** Accounts of one person, in one network. */
export const ACCOUNTS = 30;
const TASKS = 100;
const READ_TASKS = 200;

const TASKS_QUERY =
  'query ($w: ID!) { tasks(first: 50, filter: { workspaceId: { eq: $w } }) { nodes { id title creator { id name } comments { nodes { id } } } } }';

type Request = [string, string, RequestOptions?];

/** Every account sends its own requests with so many clients. */
const byAccounts =
  (clients: number, prepare: (account: HttpCaller, attacker: Attacker) => Promise<(nth: number) => Request>): Attack =>
  async (attacker) => {
    const floods: ((stop: AbortSignal) => Promise<void>)[] = [];
    for (const account of attacker.accounts) {
      const request = await prepare(account, attacker);
      floods.push((stop) => attacker.flood(clients, stop, request, account));
    }
    return async (stop) => void (await Promise.all(floods.map((flood) => flood(stop))));
  };

async function withTasks(account: HttpCaller, attacker: Attacker): Promise<string> {
  const workspaceId = await account.createWorkspace();
  const payload = { workspaceId, title: CONTENT_MARK };
  await account.insertMany(attacker.sized(READ_TASKS), TASKS, { modelName: 'Task', payload });
  return workspaceId;
}

/** Attacks by many accounts of one person. */
export const ACCOUNT_ATTACKS = {
  /** 30 accounts insert a hundred tasks in each of two requests at a time. */
  accountsWrite: byAccounts(2, async (account) => {
    const workspaceId = await account.createWorkspace();
    const task = () => ({ action: 'INSERT' as const, modelName: 'Task', modelId: freshId() });
    const body = template(
      Array.from({ length: TASKS }, () => ({ ...task(), payload: { workspaceId, title: CONTENT_MARK } })),
    );
    return () => ['POST', '/sync/mutate', { body: body() }];
  }),

  /** 30 accounts load three snapshots each at a time. */
  accountsSnapshots: byAccounts(3, async (account, attacker) => {
    await withTasks(account, attacker);
    return (nth) => ['GET', `/sync/bootstrap?onlyModels=Task${['', ',Label', ',Team'][nth % 3]}`];
  }),

  /** 30 accounts query GraphQL with three clients each. */
  accountsGraphql: byAccounts(3, async (account, attacker) => {
    const w = await withTasks(account, attacker);
    const body = JSON.stringify({ query: TASKS_QUERY, variables: { w } });
    return () => ['POST', '/graphql', { body }];
  }),
} satisfies { readonly [name: string]: Attack };
