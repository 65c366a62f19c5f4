import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '@wts/contracts';
import { Fault } from '@wts/contracts';
import type { AddressReader } from '../client-address.ts';
import { networkOf } from '../client-address.ts';
import type { RateLimits, RatePolicy } from '../rates/policies.ts';
import { FAILED_CREDENTIALS, RATE_POLICIES, withLimit } from '../rates/policies.ts';
import type { Count, Standing, Tally } from '../rates/tally.ts';
import type { RequestContext } from './request-context.ts';
import type { CompiledRoute } from './route-table.ts';

interface LimiterParts {
  readonly tally: Tally;
  /** Told whenever something was counted. */
  readonly onCounted: () => void;
  readonly addressOf: AddressReader;
  readonly limits: RateLimits;
  readonly now?: () => number;
}

/** A policy at work on a request. */
interface Watch {
  readonly policy: RatePolicy;
  readonly standing: Standing;
  readonly takeBack: () => void;
}

/** In this time a count has reached the other replicas, and theirs this one: GATHER_MS, and twice the way to the broker. */
const SETTLE_MS = 25;

/**
 * How often: the step between who calls and what they get. What is counted per address is looked at before the
 * credential is; the rest once it is known who calls. Refuses with 429, `Retry-After` and the same in the body, and says
 * on every answer how much is left.
 *
 * Everything counts when it comes, also where only failures shall count in the end: those who send many at once must not be
 * judged before the first of them is answered. Where several replicas count together, only a share of a limit is given out
 * at once by each; for the rest of it a request waits until the others' counts are known, and counts them all as if they
 * had come before it. So together they let through no more than the limit.
 * Keeps errors.429.retry-after, limits.rate.at-once, limits.rate.headers, limits.rate.address.
 */
export class RateLimiter {
  readonly #parts: LimiterParts;
  readonly #policies: readonly RatePolicy[];
  readonly #failed: RatePolicy | null;
  readonly #byRoute = new Map<CompiledRoute, readonly RatePolicy[]>();
  readonly #watched = new WeakMap<RequestContext, Watch[]>();
  readonly #now: () => number;

  constructor(parts: LimiterParts) {
    this.#parts = parts;
    this.#policies = RATE_POLICIES.flatMap((policy) => withLimit(policy, parts.limits) ?? []);
    this.#failed = withLimit(FAILED_CREDENTIALS, parts.limits);
    this.#now = parts.now ?? Date.now;
  }

  /** Before anybody is asked who calls. */
  async checkAddress(context: RequestContext, route: CompiledRoute): Promise<void> {
    for (const policy of this.#of(route)) {
      if (policy.per === 'address') await this.#check(context, policy, this.networkOf(context));
    }
  }

  /** Once it is known who calls. */
  async checkCaller(context: RequestContext, route: CompiledRoute): Promise<void> {
    const { principal } = context;
    for (const policy of this.#of(route)) {
      if (policy.per === 'address' || principal === null) continue;
      await this.#check(context, policy, policy.per === 'person' ? principal.userId : callerOf(principal));
    }
    this.#announce(context);
  }

  /** A refused credential: what to answer. */
  refuse(context: RequestContext, failure: unknown): unknown {
    if (!(failure instanceof Fault) || failure.status !== 401 || this.#failed === null) return failure;
    const { standing } = this.#count(this.#failed, this.networkOf(context));
    if (standing.count <= this.#failed.limit) return failure;
    this.#watch(context).push({ policy: this.#failed, standing, takeBack: () => undefined });
    this.#announce(context);
    return this.#tooMany(standing);
  }

  /**
   * The answer is out, or the client gone before there was one (null): takes back what was no failure. Whoever was refused
   * for their credential or its scope never got to try anything, and has no part in what others at their address may.
   */
  answered(context: RequestContext, status: number | null): void {
    const isKnown = context.principal !== null || context.route?.contract.scope === 'none';
    for (const { policy, takeBack } of this.#watched.get(context) ?? []) {
      if (policy.onStatus === undefined) continue;
      // Of one who left it is not known how the attempt ended.
      if (isKnown && (status === null || policy.onStatus.includes(status))) continue;
      takeBack();
      this.#parts.onCounted();
    }
  }

  async #check(context: RequestContext, policy: RatePolicy, whose: string): Promise<void> {
    const count = this.#count(policy, whose);
    const { standing, takeBack } = count;
    // What may still be taken back is not announced as spent.
    const shown = policy.onStatus === undefined ? standing : { ...standing, count: standing.count - 1 };
    this.#watch(context).push({ policy, standing: shown, takeBack });
    if (standing.count <= policy.limit && (await this.#isWithin(policy, count))) return;
    this.#announce(context);
    // It is refused for what came before; refusing it is no further mistake of theirs.
    for (const watch of this.#watch(context)) if (watch.policy.onStatus !== undefined) watch.takeBack();
    takeBack();
    this.#parts.onCounted();
    this.#watched.delete(context);
    throw this.#tooMany(standing);
  }

  /** Each replica gives out its share of the limit at once, and the rest when it knows what the others gave out. */
  async #isWithin({ limit }: RatePolicy, { standing, place }: Count): Promise<boolean> {
    const { replicas } = this.#parts.tally;
    if (replicas === 1 || standing.count <= limit / replicas) return true;
    await delay(SETTLE_MS);
    return place() <= limit;
  }

  #count(policy: RatePolicy, whose: string): Count {
    const count = this.#parts.tally.add(`${policy.name} ${whose}`, policy.windowSeconds * 1000);
    this.#parts.onCounted();
    return count;
  }

  #tooMany({ endsAt }: Standing): Fault {
    return new Fault('rate_limited', { retryAfterSeconds: this.#secondsUntil(endsAt) });
  }

  /**
   * draft-ietf-httpapi-ratelimit-headers-10, and for older clients the three common lines, about the tightest policy.
   */
  #announce(context: RequestContext): void {
    const watches = this.#watched.get(context);
    if (watches === undefined || watches.length === 0) return;
    const left = ({ policy, standing }: Watch): number => Math.max(0, policy.limit - standing.count);
    const tightest = watches.reduce((one, other) => (left(other) < left(one) ? other : one));
    const reset = this.#secondsUntil(tightest.standing.endsAt);
    context.reply.push(
      'RateLimit-Policy',
      watches.map(({ policy }) => `"${policy.name}";q=${policy.limit};w=${policy.windowSeconds}`).join(', '),
      'RateLimit',
      watches
        .map((watch) => `"${watch.policy.name}";r=${left(watch)};t=${this.#secondsUntil(watch.standing.endsAt)}`)
        .join(', '),
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

  #watch(context: RequestContext): Watch[] {
    const watches = this.#watched.get(context) ?? [];
    this.#watched.set(context, watches);
    return watches;
  }

  #of(route: CompiledRoute): readonly RatePolicy[] {
    const known = this.#byRoute.get(route);
    if (known !== undefined) return known;
    const policies = this.#policies.filter(({ appliesTo }) => appliesTo(route.contract));
    this.#byRoute.set(route, policies);
    return policies;
  }

  /** Whose request it is as long as nobody knows who calls. */
  networkOf({ peer, headers }: RequestContext): string {
    return networkOf(this.#parts.addressOf(peer, headers.forwardedFor));
  }
}

/** Tokens of a signed-in person are renewed all the time; they are one caller. */
function callerOf({ userId, credential }: Principal): string {
  return credential.kind === 'jwt' ? userId : credential.id;
}
