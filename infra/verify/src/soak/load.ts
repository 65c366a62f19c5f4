/** Writers, followers and consumers of webhooks that use one system all the time, and what is compared with its log at the end. */
import { loadCopy, type ClientCopy } from '../audit-live.ts';
import type { CheckedSystem } from '../checked-system.ts';
import type { AuditFinding } from '../finding.ts';
import { keepWriting } from '../load/writers.ts';
import { every } from '../rest.ts';
import { checkEnd } from './check-end.ts';
import { DeliveryCheck } from './delivery-check.ts';
import type { Span } from './endpoint-history.ts';
import { headOf, startFollowers } from './soak-followers.ts';
import { tally, webhooksText } from './verdict.ts';
import type { WebhookReport } from './webhook-check.ts';
import { changeEveryKind, WebhookConsumers, type Place } from './webhook-consumers.ts';

export const CHECK_EVERY_MS = 3_000;

interface LoadOptions {
  /** Of the endpoints of webhooks; null: without any. */
  readonly place: Place | null;
  readonly writers: number;
  readonly sockets: number;
  /** Of each writer. */
  readonly writeEveryMs: () => number;
  /** Each change is sent up to so many times in parallel. */
  readonly copiesMax?: number;
  /** Whether memory is being measured. */
  readonly isCalm?: () => boolean;
}

export class Load {
  retries = 0;
  /** An error in one of them ends the run. */
  readonly background: Promise<unknown>[] = [];
  readonly check: DeliveryCheck;
  readonly system: CheckedSystem;
  readonly consumers: WebhookConsumers | null;
  readonly #copy: ClientCopy;

  private constructor(system: CheckedSystem, consumers: WebhookConsumers | null, copy: ClientCopy) {
    this.system = system;
    this.check = new DeliveryCheck(system);
    this.consumers = consumers;
    this.#copy = copy;
  }

  static async start(
    stack: AsyncDisposableStack,
    system: CheckedSystem,
    { place, writers, sockets, writeEveryMs, copiesMax = 1, isCalm = () => false }: LoadOptions,
    stop: AbortSignal,
  ): Promise<Load> {
    const consumers = place === null ? null : stack.use(await WebhookConsumers.open(system, stop, place));
    const copy = await loadCopy({ baseUrl: system.baseUrl, token: system.apiKey });
    const load = new Load(system, consumers, copy);
    const { check } = load;
    const context = { testSystem: system, check, start: await headOf(system), stop, isCalm, stack };
    load.background.push(
      ...(await startFollowers(context, sockets)),
      ...(consumers === null ? [] : [changeEveryKind(system, stop), consumers.change()]),
      every(CHECK_EVERY_MS, stop, async () => void (await check.runRound())),
      keepWriting(system, writers, stop, {
        everyMs: writeEveryMs,
        copiesMax,
        onAcknowledged: (acknowledgement) => check.acknowledge(acknowledgement),
        onRetry: () => (load.retries += 1),
      }),
    );
    return load;
  }

  /** Waits for the last deliveries, and compares everything with the log. Endpoints may get events twice in `kills`. */
  async finish(
    kills: readonly Span[],
  ): Promise<{ summary: string[]; findings: readonly AuditFinding[]; webhooks: WebhookReport | null }> {
    const { check } = this;
    await checkEnd(this.system, check, this.#copy);
    const webhooks = (await this.consumers?.check(kills)) ?? null;
    check.report(webhooks?.findings ?? []);
    const summary = [
      `changes    ${check.acknowledged} acknowledged, ${this.retries} sent again`,
      `received   ${check.delivered} entries, checked in ${check.rounds} rounds`,
      ...(webhooks === null ? [] : [`webhooks   ${webhooksText(webhooks)}`]),
      `findings   ${tally(check.findings)}`,
    ];
    return { summary, findings: check.findings, webhooks };
  }
}
