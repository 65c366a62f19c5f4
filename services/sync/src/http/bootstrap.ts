import { syncApi, type BootstrapQuestion } from '@wts/contracts';
import { mountStream } from '@wts/service-kit/routes';
import type { Call } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Bootstraps } from '../bootstrap/bootstrap.ts';
import type { ClientModels } from '../bootstrap/client-models.ts';
import { readQuestion } from '../bootstrap/question.ts';
import { chooseEncoding, sendLines, sendProduction } from '../snapshots/send.ts';

type Asking = Pick<Call, 'principal' | 'res' | 'signal'>;

/** GET and POST /sync/bootstrap. What stands in the body takes precedence over the query. Keeps sync.bootstrap.post. */
export function mountBootstrap(router: Router, bootstraps: Bootstraps, clientModels: ClientModels): void {
  const answer = async ({ principal, res, signal }: Asking, given: BootstrapQuestion): Promise<void> => {
    const { userId } = principal;
    const asked = await clientModels.complete(userId, given, signal);
    const question = readQuestion(principal, asked);
    await clientModels.remember(userId, asked, signal);
    using begun = await bootstraps.answer(question, chooseEncoding(res.req), signal);
    const { firstLine, rest } = begun;
    if (rest === null) sendLines(res, `${firstLine}{"type":"end","rowCount":0}\n`);
    else await sendProduction(res, rest, firstLine);
  };
  mountStream(router, syncApi.bootstrap, (call) => answer(call, call.query));
  mountStream(router, syncApi.bootstrapPost, (call) => answer(call, { ...call.query, ...call.body }));
}
