import { LIMITS, type BodyOf, type ParamsOf, type Principal, type QueryOf } from '@wts/contracts';
import type { Request, Response } from 'express';
import type { Logger } from '../observe/logger.ts';
import { contextOf } from '../http/request-context.ts';

type Parts<C> = Pick<Call<C>, 'principal' | 'caller' | 'params' | 'query' | 'body' | 'req' | 'res'>;

/** One checked request for a handler. What few handlers use is created at its first use. */
export class Call<C = unknown> {
  /** The caller. An empty id and no scopes where the contract needs no credential. */
  readonly principal: Principal;
  /** The service that calls; empty where the contract needs no credential. */
  readonly caller: string;
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  readonly req: Request;
  readonly res: Response;
  /**
   * An id of the effect of this request, the same for each repetition with its `Idempotency-Key`; undefined without one. A handler
   * that repeats an effect with an unknown outcome under this id causes it once.
   */
  effectId: string | undefined;
  #signal: AbortSignal | undefined;
  #log: Logger | undefined;

  constructor({ principal, caller, params, query, body, req, res }: Parts<C>) {
    this.principal = principal;
    this.caller = caller;
    this.params = params;
    this.query = query;
    this.body = body;
    this.req = req;
    this.res = res;
  }

  get requestId(): string {
    return contextOf(this.req).requestId;
  }

  /** Logs with the id of the request. */
  get log(): Logger {
    this.#log ??= contextOf(this.req).http.log.child({ requestId: this.requestId });
    return this.#log;
  }

  /** From now on `signal` does not abort when the client disconnects, only after the time a request may take. */
  outliveClient(): void {
    this.#signal = AbortSignal.timeout(LIMITS.requestTimeoutMs);
  }

  /** Aborts when the client disconnects, or when no reply has begun after LIMITS.requestTimeoutMs. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.res);
    return this.#signal;
  }
}

/** Of a request whose work may outlast its reply: it ends at this time, with this reason, or with the exchange. */
interface WorkDeadline {
  readonly ms: number;
  readonly reason: () => unknown;
}

/** Aborts when the client disconnects, or the request took too long; with `work` also when the exchange has ended. */
export function signalOf(res: Response, work?: WorkDeadline): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    if (work !== undefined) controller.abort(work.reason());
    // A reply that has begun may take longer, such as a stream.
    else if (!res.headersSent) controller.abort(new DOMException('The request took too long.', 'TimeoutError'));
  }, work?.ms ?? LIMITS.requestTimeoutMs);
  timer.unref();
  res.once('close', () => {
    clearTimeout(timer);
    if (work !== undefined || !res.writableFinished) controller.abort(ENDED);
  });
  return controller.signal;
}

/** Made once, because making one takes longer than all else at the end of an exchange. */
const ENDED = new DOMException('The exchange has ended.', 'AbortError');
