import { setTimeout as delay } from 'node:timers/promises';
import { Fault, type Principal } from '@wts/contracts';
import { FAILED_CREDENTIALS, RATE_POLICIES, withLimit, type RateLimits, type RatePolicy } from '../rates/policies.ts';
import type { Count, WindowCount, Tally } from '../rates/tally.ts';
import type { RequestContext } from './request-context.ts';
import type { CompiledRoute } from './route-table.ts';

interface LimiterParts {
  readonly tally: Tally;
  /** Called after each change of a count. */
  readonly onCounted: () => void;
  readonly limits: RateLimits;
  readonly now?: () => number;
  readonly settleMs?: number;
}

/** A policy and its count for one request. */
interface AppliedPolicy {
  readonly policy: RatePolicy;
  readonly window: WindowCount;
  readonly takeBack: () => void;
}

/** Within this time replicas have each other's counts: GATHER_MS and two deliveries by NATS. */
const SETTLE_MS = 25;

/**
 * Limits the rate of requests. Policies per address are checked before the credential, the others after it. Refuses with 429
 * and `Retry-After`, and every answer has the remaining count.
 *
 * A request counts when it is received, also for policies that count only failures: otherwise many parallel requests would
 * pass before the first failure. The count of a request that did not fail is taken back. With several replicas, each accepts
 * its share of a limit without waiting. Beyond it a request waits for the counts of the other replicas and is accepted only
 * when all of them, counted before it, leave room. So all replicas together accept no more than the limit.
 * Keeps errors.429.retry-after, limits.rate.at-once, limits.rate.headers, limits.rate.address.
 */
export class RateLimiter {
  readonly #parts: LimiterParts;
  readonly #policies: readonly RatePolicy[];
  readonly #failed: RatePolicy | null;
  readonly #byRoute = new Map<CompiledRoute, readonly RatePolicy[]>();
  readonly #applied = new WeakMap<RequestContext, AppliedPolicy[]>();
  readonly #now: () => number;

  constructor(parts: LimiterParts) {
    this.#parts = parts;
    this.#policies = RATE_POLICIES.flatMap((policy) => withLimit(policy, parts.limits) ?? []);
    this.#failed = withLimit(FAILED_CREDENTIALS, parts.limits);
    this.#now = parts.now ?? Date.now;
  }

  /** Runs before authentication. */
  async checkAddress(context: RequestContext, route: CompiledRoute): Promise<void> {
    for (const policy of this.#policiesOf(route)) {
      if (policy.per === 'address') await this.#check(context, policy, context.network);
    }
  }

  /** Runs after authentication. */
  async checkCaller(context: RequestContext, route: CompiledRoute): Promise<void> {
    const { principal } = context;
    for (const policy of this.#policiesOf(route)) {
      if (policy.per === 'address' || principal === null) continue;
      await this.#check(context, policy, policy.per === 'person' ? principal.userId : callerOf(principal));
    }
    this.#announce(context);
  }

  /** Counts a refused credential. Returns the failure to answer with. */
  refuse(context: RequestContext, failure: unknown): unknown {
    if (!(failure instanceof Fault) || failure.status !== 401 || this.#failed === null) return failure;
    const { window } = this.#count(this.#failed, context.network);
    if (window.count <= this.#failed.limit) return failure;
    this.#appliedTo(context).push({ policy: this.#failed, window, takeBack: () => undefined });
    this.#announce(context);
    return this.#tooMany(window);
  }

  /**
   * Runs when the answer is sent, or the client disconnected before it (`status` is null): takes back the counts of a request
   * that did not fail. A refused credential or scope does not count as a failed attempt, so it uses up nothing for others at
   * that address.
   */
  answered(context: RequestContext, status: number | null): void {
    const isAuthenticated = context.principal !== null || context.route?.contract.scope === 'none';
    for (const { policy, takeBack } of this.#applied.get(context) ?? []) {
      if (policy.onStatus === undefined) continue;
      // Without an answer it is unknown whether the attempt failed; it counts.
      if (isAuthenticated && (status === null || policy.onStatus.includes(status))) continue;
      takeBack();
      this.#parts.onCounted();
    }
  }

  async #check(context: RequestContext, policy: RatePolicy, key: string): Promise<void> {
    const count = this.#count(policy, key);
    const { window, takeBack } = count;
    // A count that may be taken back is not shown as used.
    const shown = policy.onStatus === undefined ? window : { ...window, count: window.count - 1 };
    this.#appliedTo(context).push({ policy, window: shown, takeBack });
    if (window.count <= policy.limit && (await this.#isWithin(policy, count))) return;
    this.#announce(context);
    // The request is refused for earlier requests; its own refusal does not count.
    for (const one of this.#appliedTo(context)) if (one.policy.onStatus !== undefined) one.takeBack();
    takeBack();
    this.#parts.onCounted();
    this.#applied.delete(context);
    throw this.#tooMany(window);
  }

  /** Accepts within this replica's share without waiting, beyond it only with the counts of the other replicas. */
  async #isWithin({ limit }: RatePolicy, { window, countWithOthers }: Count): Promise<boolean> {
    const { replicas } = this.#parts.tally;
    if (replicas === 1 || window.count <= limit / replicas) return true;
    await delay(this.#parts.settleMs ?? SETTLE_MS);
    return countWithOthers() <= limit;
  }

  #count(policy: RatePolicy, key: string): Count {
    const count = this.#parts.tally.add(`${policy.name} ${key}`, policy.windowSeconds * 1000);
    this.#parts.onCounted();
    return count;
  }

  #tooMany({ endsAt }: WindowCount): Fault {
    return new Fault('rate_limited', { retryAfterSeconds: this.#secondsUntil(endsAt) });
  }

  /** draft-ietf-httpapi-ratelimit-headers-10, and for older clients three `X-` headers about the tightest policy. */
  #announce(context: RequestContext): void {
    const applied = this.#applied.get(context);
    if (applied === undefined || applied.length === 0) return;
    const left = ({ policy, window }: AppliedPolicy): number => Math.max(0, policy.limit - window.count);
    const tightest = applied.reduce((one, other) => (left(other) < left(one) ? other : one));
    const reset = this.#secondsUntil(tightest.window.endsAt);
    context.reply.push(
      'RateLimit-Policy',
      applied.map(({ policy }) => `"${policy.name}";q=${policy.limit};w=${policy.windowSeconds}`).join(', '),
      'RateLimit',
      applied.map((one) => `"${one.policy.name}";r=${left(one)};t=${this.#secondsUntil(one.window.endsAt)}`).join(', '),
      'X-RateLimit-Limit',
      String(tightest.policy.limit),
      'X-RateLimit-Remaining',
      String(left(tightest)),
      'X-RateLimit-Reset',
      String(reset),
    );
  }

  #secondsUntil(endsAt: number): number {
    return Math.max(1, Math.ceil((endsAt - this.#now()) / 1000));
  }

  #appliedTo(context: RequestContext): AppliedPolicy[] {
    return this.#applied.getOrInsertComputed(context, () => []);
  }

  #policiesOf(route: CompiledRoute): readonly RatePolicy[] {
    return this.#byRoute.getOrInsertComputed(route, ({ contract }) =>
      this.#policies.filter(({ appliesTo }) => appliesTo(contract)),
    );
  }
}

/** All tokens of a signed-in person are one caller, because they are renewed often; so are those of one grant of OAuth. */
function callerOf({ userId, credential }: Principal): string {
  return credential.kind === 'jwt' ? userId : credential.id;
}
