import { firstRow, rows } from '@wts/service-kit/postgres';
import type { SealedSecret } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import { AUTH_LIMITS } from '../limits.ts';
import { deleteSome } from './delete-some.ts';

export type LinkKind = 'reset' | 'take-back' | 'verify' | 'change' | 'stop-change' | 'registration' | 'invitation';

export interface NewLink {
  readonly id: string;
  readonly hash: Buffer;
  readonly kind: LinkKind;
  /** Null while there is none. */
  readonly accountId: string | null;
  /** Who opens the link has proved this address. Null for a link that was not mailed. */
  readonly address: string | null;
  readonly lifeMs: number;
  /** What waits for the link, sealed under its id. */
  readonly content?: SealedSecret;
  /** The browser that asked for it. */
  readonly browserHash?: Buffer;
}

export interface MailLink extends Pick<NewLink, 'id' | 'kind' | 'accountId' | 'address'> {
  readonly content: SealedSecret | null;
  readonly browserHash: Buffer | null;
  readonly state: 'open' | 'used' | 'expired' | 'replaced';
}

/** Links that people get by mail or from the operator. The store never receives the token of one. */
export interface MailLinkStore {
  /**
   * Returns when it expires. Of the links of one kind for one account only the newest works; those that stop a change of the address all
   * work, because otherwise a second change would take the account from the owner of the first address.
   */
  insert(link: NewLink): Promise<Date>;
  find(hash: Buffer): Promise<MailLink | null>;
  /** Ends an open link: of several callers, one gets it. Run it in the transaction of what the link is for. */
  use(hash: Buffer, kind: LinkKind): Promise<MailLink | null>;
  /**
   * After a change was stopped by this link: ends the links that give the account an address, and later ones that stop a change, which are of
   * addresses that the account had only by what was stopped.
   */
  endAfterStop(accountId: string, hash: Buffer): Promise<void>;
  /** Deletes some of those that ended long ago. */
  deleteEnded(): Promise<number>;
}

const STATE = `case when used_at is not null then 'used' when replaced_at is not null then 'replaced'
  when expires_at <= now() then 'expired' else 'open' end`;
const COLUMNS = `id, kind, account_id as "accountId", address, browser_hash as "browserHash", ${STATE} as state,
  content as sealed, sealed_with as "keyId"`;

export function mailLinkStore(knex: Knex): MailLinkStore {
  return {
    // Index mail_links (account_id, kind). One statement: of two parallel ones the later ends at most the earlier.
    insert: async ({ lifeMs, content, browserHash = null, ...link }) => {
      const sql = `with replaced as (
          update auth.mail_links set replaced_at = now()
          where account_id = :accountId and kind = :kind and kind <> 'stop-change' and used_at is null and replaced_at is null
        )
        insert into auth.mail_links (id, hash, kind, account_id, address, browser_hash, content, sealed_with, expires_at)
        values (:id, :hash, :kind, cast(:accountId as uuid), :address, :browserHash, :sealed, :keyId, now() + make_interval(secs => :seconds))
        returning expires_at as "expiresAt"`;
      const [made] = await rows<{ expiresAt: Date }>(knex, sql, {
        ...link,
        browserHash,
        sealed: content?.sealed ?? null,
        keyId: content?.keyId ?? null,
        seconds: lifeMs / 1000,
      });
      if (made === undefined) throw new Error('an insert without a condition returns its row');
      return made.expiresAt;
    },
    // Unique index mail_links (hash).
    find: async (hash) =>
      linkOf(await firstRow(knex, `select ${COLUMNS} from auth.mail_links where hash = :hash`, { hash })),
    use: async (hash, kind) => {
      const sql = `update auth.mail_links set used_at = now() where hash = :hash and kind = :kind
          and used_at is null and replaced_at is null and expires_at > now() returning ${COLUMNS}`;
      return linkOf(await firstRow(knex, sql, { hash, kind }));
    },
    endAfterStop: async (accountId, hash) => {
      const sql = `update auth.mail_links set replaced_at = now()
        where account_id = :accountId and used_at is null and replaced_at is null and (kind in ('change', 'verify')
          or kind = 'stop-change' and created_at > (select created_at from auth.mail_links where hash = :hash))`;
      await rows(knex, sql, { accountId, hash });
    },
    // Index mail_links (expires_at).
    deleteEnded: () => {
      const where = 'expires_at < now() - make_interval(secs => :kept)';
      return deleteSome(knex, { table: 'mail_links', where }, { kept: AUTH_LIMITS.endedLinkKeptMs / 1000 });
    },
  };
}

interface LinkRow extends Omit<MailLink, 'content'> {
  readonly sealed: Buffer | null;
  readonly keyId: string | null;
}

function linkOf(row: LinkRow | null): MailLink | null {
  if (row === null) return null;
  const { sealed, keyId, ...link } = row;
  return { ...link, content: sealed === null || keyId === null ? null : { sealed, keyId } };
}
