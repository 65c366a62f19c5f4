import type { ApiClient } from '@wts/client/api';
import type { Call } from '../call.ts';
import { ago } from '../output/times.ts';
import { agoColumn } from '../output/view.ts';
import { given } from '../options.ts';
import { resultsOf, settled, throwIfRefused, type Outcome } from './changes.ts';

type Invitation = Awaited<ReturnType<ApiClient['createInvitation']>>['invitation'];

export async function invite(call: Call): Promise<void> {
  const { options, words, session, output, signal } = call;
  const { api, workspace } = await session();
  const { id: workspaceId, name } = await workspace();
  const revoked = options.text('revoke');
  if (revoked !== undefined) return revoke(call, workspaceId, revoked);
  if (options.flag('list')) return list(call, workspaceId);
  const chosen = {
    role: options.text('role') as 'admin' | 'member' | 'guest' | undefined,
    expiresInDays: options.number('days', { min: 1, max: 365 }),
  };
  const create = async (email?: string): Promise<Invitation> =>
    (await api.createInvitation({ workspaceId, ...given({ ...chosen, email }) }, { signal })).invitation;
  const addresses = [...new Set(words)];
  if (addresses.length > 1) return several(call, addresses, create);
  const invitation = await create(addresses[0]);
  await output.record(invitation, invitation.id, [
    { title: 'For', value: invitation.email, shown: invitation.email ?? `every person with the code, to join ${name}` },
    { title: 'Role', value: invitation.role },
    { title: 'Ends', value: invitation.expiresAt, shown: ago(invitation.expiresAt, output.look) },
    { title: 'Code', value: invitation.code },
    { title: 'Page', value: await pageOf(call, invitation) },
    { title: 'Id', value: invitation.id },
  ]);
  await output.note(JOINING);
}

const JOINING = 'The code is shown only now. They join with wts workspace join CODE, or on the page.';

/** One after the other, so that each answer belongs to its address. Those that were made are shown also when others were refused. */
async function several(
  call: Call,
  addresses: readonly string[],
  create: (email: string) => Promise<Invitation>,
): Promise<void> {
  const { output } = call;
  const outcomes: Outcome<Invitation>[] = [];
  for (const word of addresses) outcomes.push({ word, result: await settled(() => create(word)) });
  const made = resultsOf(outcomes);
  const pages = new Map(await Promise.all(made.map(async (row) => [row.id, await pageOf(call, row)] as const)));
  if (made.length > 0) {
    await output.changedAll(made, ({ id, email, role, code }) => ({
      id,
      key: `${email} ${code}`,
      line: `Invited ${email} as ${role}, with the code ${code}${pages.get(id) === '' ? '' : `: ${pages.get(id)}`}`,
    }));
    await output.note(JOINING);
  }
  throwIfRefused(outcomes);
}

async function pageOf({ session }: Call, { code }: Invitation): Promise<string> {
  const { authUrl } = (await session()).settings;
  return authUrl === null ? '' : `${authUrl.value}/join?code=${code}`;
}

async function revoke({ session, output, signal }: Call, workspaceId: string, id: string): Promise<void> {
  await (await session()).api.deleteInvitation({ workspaceId, invitationId: id }, { signal });
  await output.changed({ id }, { id, key: id, line: 'The invitation no longer works.' });
}

async function list({ session, output, signal }: Call, workspaceId: string): Promise<void> {
  const { invitations } = await (await session()).api.listInvitations({ workspaceId }, { signal });
  await output.list(invitations, {
    nouns: ['invitation', 'open invitations'],
    id: ({ id }) => id,
    columns: [
      {
        title: 'FOR',
        value: ({ email }) => email,
        shown: ({ email }) => email ?? 'every person with the code',
        isCut: true,
      },
      { title: 'ROLE', value: ({ role }) => role },
      agoColumn('ENDS', ({ expiresAt }) => expiresAt),
      { title: 'ID', value: ({ id }) => id, style: () => 'dim' },
    ],
  });
}
