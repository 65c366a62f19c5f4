/** Limits that only this service has, each with its reason. Those that callers of the API see are in @wts/contracts. */
export const AUTH_LIMITS = {
  /** One hash of a password takes 128 MB and half a second of a core: so many at once, of one network one. */
  passwordHashesAtOnceMax: 2,
  /** Besides these, for people in a browser in which they signed in before, of one person one. */
  passwordHashesOfKnownAtOnceMax: 1,
  passwordHashesWaitingMax: 32,
  passwordHashWaitMs: 5_000,
  /** Failed sign-ins within the window: of one network for one address and for any address, and for one address from all networks. */
  signInFailuresMax: 10,
  signInFailuresOfNetworkMax: 30,
  signInFailuresOfAccountMax: 100,
  signInWindowMs: 15 * 60_000,
  /** Rows of one kind that strangers add to the security record within that window: further ones are only counted. */
  unknownEventsMax: 100,
  /** Ends of sessions and apps that one new rule of a workspace writes, each a statement of its transaction; the event of the rule explains the others. */
  eventsOfRuleMax: 1_000,
  /** Browsers and networks in which the owner of an account signed in before. */
  signInPlacesMax: 20,
  /** A session ends when it is not used for so long, and after the longer time in any case. */
  sessionIdleMs: 14 * 24 * 60 * 60_000,
  sessionMs: 30 * 24 * 60 * 60_000,
  sessionsPerPersonMax: 20,
  /** How long a person who signed in, or proved it again, is not asked before something that outlasts the session. */
  confirmedMs: 10 * 60_000,
  /** Wrong codes of an authenticator app within the window, and within a day: a code has six digits. */
  codeFailuresMax: 10,
  codeFailuresOfDayMax: 30,
  codeFailuresDayMs: 24 * 60 * 60_000,
  passkeysPerAccountMax: 20,
  passkeyNameMax: 60,
  /** A page with a button for a passkey works for so long. */
  passkeyChallengeMs: 30 * 60_000,
  /** The time to sign in and to consent. */
  authorizationRequestMs: 10 * 60_000,
  /** Requests that wait for a person, from all networks, and characters of a `state`: 80 MB in all. */
  pendingRequestsMax: 10_000,
  stateMax: 4096,

  /** Mails that wait, in all: some 30 MB. */
  mailsWaitingMax: 10_000,
  /** Of one replica. */
  mailsAtOnceMax: 4,
  /** Each step with the mail server, and all of them; then another replica may try the mail. */
  mailStepMs: 10_000,
  mailAttemptMs: 60_000,
  mailLeaseMs: 90_000,
  /** Mails that strangers ask for within the window: to one address, and of one network. */
  mailsAskedOfAddressMax: 5,
  mailsAskedOfNetworkMax: 60,
  mailsAskedWindowMs: 60 * 60_000,
  /** Notices that one person gets within that window, and with those that take an account back: other notices cannot use these up. */
  noticesOfPersonMax: 20,
  noticesWithTakeBackMax: 40,
  /** How long a mail is tried, and how long its outcome is stored. */
  mailMs: 24 * 60 * 60_000,
  endedMailKeptMs: 7 * 24 * 60 * 60_000,
  /** Invitations that one person has mailed within the window. */
  invitationMailsMax: 300,
  /** Links that confirm an address or an account, and the one that stops a change of it. */
  confirmLinkMs: 24 * 60 * 60_000,
  stopLinkMs: 7 * 24 * 60 * 60_000,
  /** The link that takes an account back after its only second factor was added. */
  takeBackLinkMs: 7 * 24 * 60 * 60_000,
  /** From the request of a new password to its choice. */
  resetLinkMs: 30 * 60_000,
  /** How long a link is stored after its end, so that its page says why it works no more. */
  endedLinkKeptMs: 7 * 24 * 60 * 60_000,

  apiKeysPerPersonMax: 100,
  /** How long a revoked key is stored: longer than its creation may be repeated, and than caches need its revocation. */
  apiKeyRevokedKeptMs: 2 * 24 * 60 * 60_000,
  /** How often the time of a key's last use is stored. */
  apiKeyUseIntervalMs: 60_000,

  /** A client exchanges its code immediately. */
  codeMs: 60_000,
  /** A person copies it from a page into a terminal, which may be another device. */
  copiedCodeMs: 5 * 60_000,
  /** Codes of `/account/connect` that are stored of one person, also used ones: a further one deletes the oldest. */
  connectCodesPerPersonMax: 20,
  /** Verifiers look up the grant of a token, so a revocation does not wait for this. */
  accessTokenMs: 30 * 60_000,
  /** A grant ends when it is not used for this long, and at this age in any case. */
  grantIdleMs: 30 * 24 * 60 * 60_000,
  grantMs: 90 * 24 * 60 * 60_000,
  /** Apps of one person. A further consent ends those that were used longest ago. */
  grantsPerPersonMax: 200,
  redirectUrisMax: 10,
  redirectUriMax: 2048,
  /** Clients write their names themselves, and pages show them. */
  clientNameMax: 100,
  /** Clients register without a credential: one that never gets a token is deleted after this, one without a grant after the longer time. */
  clientUnusedMs: 24 * 60 * 60_000,
  /** Of those that never got a token, and of those that did and have no grant. Beyond it the oldest of the networks with most are deleted. */
  clientsUnusedMax: 10_000,
  clientsWithoutGrantMax: 10_000,
  clientIdleMs: 180 * 24 * 60 * 60_000,
} as const;
