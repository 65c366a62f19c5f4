import { endsCredential } from '@wts/access';
import { Fault, type Principal, type Revocation } from '@wts/contracts';
import type { Call } from '@wts/service-kit/routes';

interface OpenAnswer {
  readonly principal: Principal;
  readonly end: () => void;
}

/**
 * The snapshots that are being sent: minutes long for a client that reads slowly. Each ends when the credential of its caller is
 * revoked, in the middle of the body or, before its first byte, with 401. One whose credential expires meanwhile is sent to its end.
 * Keeps sync.bootstrap.credential-dies.
 */
export class OpenAnswers {
  readonly #open = new Set<OpenAnswer>();

  /** Runs the work of an answer; the signal that it gets also aborts at the end of the credential. */
  async run(
    { principal, res, signal }: Pick<Call, 'principal' | 'res' | 'signal'>,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const ending = new AbortController();
    const end = (): void => {
      ending.abort(new Fault(principal.credential.kind === 'api_key' ? 'api_key_invalid' : 'token_invalid'));
      if (res.headersSent) res.destroy();
    };
    const answer = { principal, end };
    this.#open.add(answer);
    try {
      await work(AbortSignal.any([signal, ending.signal]));
    } finally {
      this.#open.delete(answer);
    }
  }

  revoke(revocation: Revocation): void {
    for (const { principal, end } of this.#open) if (endsCredential(revocation, principal)) end();
  }
}
