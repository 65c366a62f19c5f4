/**
 * While a new password replaces that of a role, a process knows both, and the server accepts one of them: the process connects with
 * the one that worked last, and with the other when the server refuses it. So the password of the role may change at any time,
 * without a failed request. Open connections stay open.
 */
class TwoPasswords {
  #url: string;
  #other: string;

  constructor(url: string, otherPassword: string) {
    this.#url = url;
    const other = new URL(url);
    other.password = encodeURIComponent(otherPassword);
    this.#other = other.href;
  }

  get url(): string {
    return this.#url;
  }

  /** The server refused the password of `url`. Does nothing when another connection has learned it before. */
  refused(url: string): void {
    if (url === this.#url) [this.#url, this.#other] = [this.#other, this.#url];
  }
}

/** By the address of the settings: all connections of the process learn from each other which password works. */
const byUrl = new Map<string, TwoPasswords>();

/** The addresses may be those of several servers with the same role, such as a replica. */
export function setOtherPassword(urls: readonly (string | undefined)[], password: string | undefined): void {
  if (password === undefined) return;
  for (const url of urls) if (url !== undefined) byUrl.set(url, new TwoPasswords(url, password));
}

/** Undefined for an address with one password. */
export function passwordsOf(url: string): TwoPasswords | undefined {
  return byUrl.get(url);
}

/** The address with the password that worked last. */
export function acceptedUrl(url: string): string {
  return passwordsOf(url)?.url ?? url;
}
