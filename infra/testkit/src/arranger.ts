import { servicePrincipal } from '@wts/access';
import type { InternalCommitReply, InternalMutation, Principal, Role, ServiceName } from '@wts/contracts';
import { credentialApi, HEADERS, syncApi } from '@wts/contracts';
import type { Secrets } from '@wts/local';
import { randomUUID } from 'node:crypto';
import { minterFor } from './environment.ts';
import { signToken, type Issuer, type TokenClaims } from './person.ts';

export interface Person {
  readonly userId: string;
  /** JWT of a signed-in person. */
  readonly token: string;
  readonly name: string;
}

interface ArrangerOptions {
  /** Where a process of a service is now. */
  readonly urlOf: (service: ServiceName) => string;
  readonly secrets: Pick<Secrets, 'serviceKeys'>;
  readonly jwt: Issuer;
}

const CALL_MS = 60_000;

/** Arranges people and records of a system by calling its services as they call each other. */
export class Arranger {
  readonly #options: ArrangerOptions;

  constructor(options: ArrangerOptions) {
    this.#options = options;
  }

  async person(name: string, claims: TokenClaims = {}): Promise<Person> {
    const { jwt } = this.#options;
    const subject = `${name.toLowerCase().replaceAll(/\s+/g, '-')}-${randomUUID()}`;
    const { email = `${subject}@example.com`, email_verified: emailVerified = true } = claims;
    const identity = { issuer: jwt.issuer, subject, name: claims.name ?? name, email, emailVerified };
    const { path } = credentialApi.internalResolvePerson;
    const { userId } = await this.call<{ userId: string }>({ from: 'gateway', to: 'auth' }, path, identity);
    return { userId, name, token: signToken(jwt, subject, { name, email, email_verified: emailVerified, ...claims }) };
  }

  async member(name: string, role: Role, workspaceId: string): Promise<Person> {
    const person = await this.person(name);
    const payload = { workspaceId, userId: person.userId, role };
    await this.commit([{ modelName: 'WorkspaceMember', modelId: randomUUID(), action: 'INSERT', payload }]);
    return person;
  }

  commit(mutations: readonly InternalMutation[]): Promise<InternalCommitReply> {
    const unit = { clientId: 'testkit', clientTxId: randomUUID(), authority: 'service', mutations };
    return this.call({ from: 'workspace', to: 'sync' }, syncApi.internalCommit.path, unit);
  }

  /** Calls an internal operation as another service does. */
  async call<T>(
    { from, to }: { from: ServiceName; to: ServiceName },
    path: string,
    body: object,
    principal: Principal = servicePrincipal('testkit'),
  ): Promise<T> {
    const answer = await fetch(`${this.#options.urlOf(to)}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [HEADERS.principal]: minterFor(from, to, this.#options.secrets)(principal),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS),
    });
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }
}
