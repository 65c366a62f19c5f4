interface KindOfEvent {
  readonly says: string;
  readonly details: readonly string[];
  readonly forOwners?: true;
}

/**
 * What the security record knows: by kind the sentence that people read, in which `{name}` is a detail, and the names of its details.
 * No detail is a secret or an address. `forOwners`: owners and admins of a workspace see it of a member, also where it concerns
 * all workspaces of that person; what concerns theirs alone they see in any case.
 */
export const EVENT_KINDS = {
  'sign-in': { says: 'Signed in {way}', details: ['way'], forOwners: true },
  'sign-in-failed': { says: 'A sign-in with a wrong password failed', details: [], forOwners: true },
  'sign-out': { says: 'Signed out', details: [] },
  'session-ended': { says: 'Ended the session in {browser}', details: ['browser'] },
  'factor-failed': { says: 'Entered a wrong code after the right password', details: [] },
  'factor-added': { says: 'Added {factor} as a second factor', details: ['factor'], forOwners: true },
  'factor-removed': { says: 'Removed {factor}', details: ['factor'], forOwners: true },
  'recovery-code-used': { says: 'Used a recovery code', details: [], forOwners: true },
  'recovery-codes-made': { says: 'Made new recovery codes', details: [] },
  'passkey-copied': { says: 'A copy of the passkey {passkey} was refused', details: ['passkey'], forOwners: true },
  'policy-changed': { says: 'Changed what the workspace requires: {rule}', details: ['rule'] },
  registered: { says: 'Created the account', details: [] },
  'password-changed': { says: 'Changed the password', details: [], forOwners: true },
  'password-reset': { says: 'Chose a new password by a link', details: [], forOwners: true },
  'holder-ended': {
    says: 'Ended the API keys and second factors that another holder of the account may have made',
    details: [],
    forOwners: true,
  },
  'address-verified': { says: 'Confirmed the email address', details: [], forOwners: true },
  'address-changed': { says: 'Changed the email address', details: [], forOwners: true },
  'address-change-stopped': { says: 'Stopped a change of the email address', details: [] },
  'address-lost': { says: 'Lost the email address to the person who confirmed it', details: [] },
  'mail-link-asked': { says: 'Asked for a link by mail: {mail}', details: ['mail'] },
  'mail-not-sent': { says: 'A message could not be sent: {mail}', details: ['mail'] },
  connect: { says: 'Connected the command line “{tool}”', details: ['tool', 'access'] },
  consent: { says: 'Allowed “{app}” to use the account', details: ['app', 'access'], forOwners: true },
  'grant-ended': { says: 'The access of “{app}” ended: {reason}', details: ['app', 'reason'], forOwners: true },
  'client-registered': { says: 'An app registered itself as “{app}”', details: ['app'] },
  'key-created': { says: 'Created the API key “{label}”', details: ['label', 'prefix', 'access'], forOwners: true },
  'key-revoked': { says: 'Revoked the API key “{label}”', details: ['label', 'prefix'], forOwners: true },
  'client-deleted': { says: 'The operator deleted an app, which {people} people had connected', details: ['people'] },
  'person-disabled': { says: 'The operator disabled the account', details: [], forOwners: true },
  'person-enabled': { says: 'The operator enabled the account', details: [], forOwners: true },
  'person-erased': { says: 'The operator erased the person', details: [], forOwners: true },
  'person-exported': { says: 'The operator exported the data of the person', details: [] },
  'sessions-ended': { says: 'The operator ended all sessions and apps', details: [] },
  'reset-link-made': { says: 'The operator made a link for a new password', details: [] },
  'owner-made': { says: 'The operator made the person an owner of a workspace', details: [] },
  'workspace-deleted': { says: 'The operator deleted the workspace', details: [] },
  'workspace-moving': { says: 'The operator began to move the workspace to cell {cell}', details: ['cell'] },
  'move-cancelled': { says: 'The operator cancelled the move of the workspace to cell {cell}', details: ['cell'] },
  'workspace-restored': { says: 'The operator restored the workspace', details: [] },
} as const satisfies Readonly<Record<string, KindOfEvent>>;

export type EventKind = keyof typeof EVENT_KINDS;

export const KINDS_FOR_OWNERS: readonly string[] = Object.entries<KindOfEvent>(EVENT_KINDS).flatMap(
  ([kind, { forOwners }]) => (forOwners === true ? [kind] : []),
);

type DetailsOf<K extends EventKind> = Readonly<Record<(typeof EVENT_KINDS)[K]['details'][number], string | null>>;

/** Where a request came from. Null where it is not known, as in a request of another service. */
export interface Visitor {
  readonly network: string | null;
  /** In short words, such as "Firefox on Linux". */
  readonly browser: string | null;
  readonly requestId: string | null;
}

interface EventOf<K extends EventKind> {
  readonly kind: K;
  readonly details: DetailsOf<K>;
  /** The person that it happened to; left out for an unknown one. */
  readonly userId?: string;
  readonly accountId?: string | null;
  /** The only workspace that it is about. */
  readonly workspaceId?: string | null;
  /** The session, key, grant, client or other thing that it is about. */
  readonly subjectId?: string;
  /** Who did it; by default the person themselves. */
  readonly actor?: { readonly kind: 'person' | 'operator' | 'system'; readonly id?: string };
  readonly visitor: Visitor;
}

export type SecurityEvent = { readonly [K in EventKind]: EventOf<K> }[EventKind];

/** One event as it is stored. Its kind may be one that a newer replica wrote. */
export interface StoredEvent {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly userId: string | null;
  readonly workspaceId: string | null;
  readonly subjectId: string | null;
  readonly actor: 'person' | 'operator' | 'system';
  readonly actorId: string | null;
  readonly network: string | null;
  readonly browser: string | null;
  readonly details: Readonly<Record<string, string | null>>;
}

/** Kinds of the log of sync, which has the memberships of a workspace. */
const MEMBERSHIP_KINDS: Readonly<Record<string, string>> = {
  'member-joined': 'Joined as {role}',
  'member-left': 'Left, or was removed',
  'member-role-changed': 'Got the role {role}',
};

/** The sentence of an event: words, and between them values that people or programs chose. */
export function sentenceOf({
  kind,
  details,
}: Pick<StoredEvent, 'kind' | 'details'>): readonly { readonly text: string; readonly isValue: boolean }[] {
  const says = Object.hasOwn(EVENT_KINDS, kind)
    ? EVENT_KINDS[kind as EventKind].says
    : (MEMBERSHIP_KINDS[kind] ?? kind);
  return says.split(/\{(\w+)\}/).flatMap((text, at) => {
    const isValue = at % 2 === 1;
    return text === '' ? [] : [{ text: isValue ? (details[text] ?? UNNAMED) : text, isValue }];
  });
}

/** For a name that an app or a browser did not give. */
const UNNAMED = 'without a name';

/** Of work that no request asked for. */
export const NO_VISITOR: Visitor = { network: null, browser: null, requestId: null };
