import type { BodyOf, ParamsOf, Principal, QueryOf } from '@wts/contracts';
import { LIMITS } from '@wts/contracts';
import type { Request, Response } from 'express';
import type { Logger } from '../observe/logger.ts';
import { contextOf } from '../http/request-context.ts';

interface Parts<C> {
  readonly principal: Principal;
  readonly caller: string;
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  readonly req: Request;
  readonly res: Response;
}

/** One request, read and checked, as a handler sees it. What few handlers use is made when it is asked for. */
export class Call<C = unknown> {
  /** Who calls. Nobody (an empty id, no scopes) where the contract asks for no credential. */
  readonly principal: Principal;
  /** The service that calls; empty where the contract asks for no credential. */
  readonly caller: string;
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly body: BodyOf<C>;
  readonly req: Request;
  readonly res: Response;
  /**
   * Names what this request is to bring about, the same each time it comes with its `Idempotency-Key`; undefined without
   * one. For effects of which nobody may know whether they happened: done again under this id, they happen once.
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

  /** From now on the client's leaving stops nothing; only the time a request may take does. */
  outliveClient(): void {
    this.#signal = AbortSignal.timeout(LIMITS.requestTimeoutMs);
  }

  /** Aborts when the client is gone, or when the request has had LIMITS.requestTimeoutMs and no answer has begun. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.res);
    return this.#signal;
  }
}

/** Aborts when the client is gone, or took too long. */
export function signalOf(res: Response): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    // An answer under way has its own pace; a stream may take long.
    if (!res.headersSent) controller.abort(new DOMException('The request took too long.', 'TimeoutError'));
  }, LIMITS.requestTimeoutMs);
  timer.unref();
  res.once('close', () => {
    clearTimeout(timer);
    if (!res.writableFinished) controller.abort(new DOMException('The client is gone.', 'AbortError'));
  });
  return controller.signal;
}
