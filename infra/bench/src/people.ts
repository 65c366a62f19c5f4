import { signToken, type Issuer } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { request } from 'undici';
import type { Writer } from './traffic.ts';

/** People of the system's own identity provider, through the public API: each signs in with a token and has a workspace. */
export async function peopleOf(
  { baseUrl, jwt }: { readonly baseUrl: string; readonly jwt: Issuer },
  count: number,
): Promise<readonly Writer[]> {
  const people: Writer[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    const name = `Person ${nth}`;
    const subject = randomUUID();
    const apiKey = signToken(jwt, subject, { name, email: `${subject}@example.com`, email_verified: true });
    const { statusCode, body } = await request(`${baseUrl}/api/workspaces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, urlKey: `bench-${subject.slice(0, 13)}` }),
    });
    const text = await body.text();
    if (statusCode !== 201) throw new Error(`no workspace for ${name}: ${statusCode} ${text.slice(0, 300)}`);
    const { workspace } = JSON.parse(text) as { workspace: { id: string } };
    people.push({ apiKey, workspaceId: workspace.id });
  }
  return people;
}
