interface StoredClient {
  readonly client_id: string;
}

interface StoredTokens {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string;
}

/** Where an MCP client keeps its registration and tokens, in the form that both generations of the SDK ask for. */
export class MemoryProvider {
  readonly redirectUrl: string;
  #client: StoredClient | undefined;
  #tokens: StoredTokens | undefined;
  #verifier = '';
  #asked: URL | undefined;
  #state = 0;
  #discovery: object | undefined;

  constructor(redirectUrl: string) {
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata(): object {
    return {
      client_name: 'MCP test',
      redirect_uris: [this.redirectUrl],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
  }

  get clientId(): string | undefined {
    return this.#client?.client_id;
  }

  state(): string {
    this.#state += 1;
    return `state ${this.#state}`;
  }

  clientInformation(): StoredClient | undefined {
    return this.#client;
  }

  saveClientInformation(client: StoredClient): void {
    this.#client = client;
  }

  tokens(): StoredTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(asked: URL): void {
    this.#asked = asked;
  }

  saveDiscoveryState(discovery: object): void {
    this.#discovery = discovery;
  }

  /** With it, a client checks that the code comes from the server that it asked. */
  discoveryState(): object | undefined {
    return this.#discovery;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (what === 'all' || what === 'tokens') this.#tokens = undefined;
    if (what === 'all' || what === 'client') this.#client = undefined;
    if (what === 'all' || what === 'discovery') this.#discovery = undefined;
  }

  /** The address to which the client sends the browser. */
  asked(): URL {
    if (this.#asked === undefined) throw new Error('the client has not asked for consent');
    return this.#asked;
  }

  forgetRequest(): void {
    this.#asked = undefined;
  }

  stored(): StoredTokens {
    if (this.#tokens === undefined) throw new Error('the client has no tokens');
    return this.#tokens;
  }

  /** As after its expiry: the server refuses it, and the client has its refresh token. */
  spoilAccessToken(): void {
    this.#tokens = { ...this.stored(), access_token: 'expired.expired.expired' };
  }
}
