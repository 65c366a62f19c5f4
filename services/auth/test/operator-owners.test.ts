import { operatorApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TestOperator } from './operator.ts';
import { openTestPages, type TestPages } from './people.ts';

describe('the owner whom an operator creates', () => {
  let pages: TestPages;
  let other: TestPages;
  let operator: TestOperator;
  before(async () => {
    [pages, other] = await Promise.all([openTestPages(), openTestPages()]);
    operator = await TestOperator.of(pages.testService);
  });
  after(() => Promise.all([pages, other].map((one) => one.testService.service.close())));

  const kindsOf = async (userId: string): Promise<string[]> =>
    (
      await pages.testService.backends.sql(
        `select kind from auth.events where user_id = $1 and actor = 'operator' and actor_id = $2 order by at`,
        [userId, operator.id],
      )
    ).map(({ kind }) => String(kind));

  it('is created with a workspace once, however often and from however many places at once [operator.owner.once]', async () => {
    const urlKey = `w-${randomUUID().slice(0, 12)}`;
    const body = { email: `${randomUUID()}@example.com`, name: 'Ada', workspaceName: 'Acme', urlKey };
    const made = await Promise.all(
      [pages, other, pages].map((on) => operator.call(operatorApi.createOwner, { body }, on.testService)),
    );
    for (const answer of made) assert.equal(answer.status, 201, answer.text);
    const [first] = made;
    assert.ok(first);
    assert.deepEqual(new Set(made.map(({ body: { userId, workspaceId } }) => `${userId} ${workspaceId}`)).size, 1);
    const { person } = (await operator.call(operatorApi.readPerson, { params: { userId: first.body.userId } })).body;
    assert.deepEqual(
      person.memberships.map((one) => [one.urlKey, one.role]),
      [[urlKey, 'owner']],
    );
    const links = Array.from(made, () => 'reset-link-made');
    assert.deepEqual((await kindsOf(person.userId)).toSorted(), ['owner-made', ...links]);
    const repeated = await operator.call(operatorApi.createOwner, { body });
    assert.deepEqual([repeated.status, repeated.body.userId], [201, person.userId]);
    const browser = pages.browser();
    const link = repeated.body.link.url.slice(pages.issuer.length);
    const chosen = await browser.submit(link, { password: 'correct horse battery' });
    assert.match(chosen.text, /Your password is set/);
    const signedIn = await browser.submit('/sign-in', { email: body.email, password: 'correct horse battery' });
    assert.equal(signedIn.status, 303);
    const taken = await operator.call(operatorApi.createOwner, {
      body: { ...body, email: `${randomUUID()}@example.com` },
    });
    assert.equal(taken.code, 'slug_taken');
  });

  it('gets no account that someone registered with an address that no one proved [operator.owner.once]', async () => {
    const { account } = await pages.signedIn();
    const body = { email: account.email, name: 'Ada', workspaceName: 'Acme', urlKey: `w-${randomUUID().slice(0, 12)}` };
    const make = () => operator.call(operatorApi.createOwner, { body });
    assert.equal((await make()).code, 'conflict');
    await pages.testService.backends.sql('update auth.accounts set email_verified = true where id = $1', [account.id]);
    assert.equal((await make()).status, 201);
  });
});
