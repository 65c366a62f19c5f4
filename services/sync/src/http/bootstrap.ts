import { syncApi, type BootstrapQuestion, type Principal } from '@wts/contracts';
import { mountStream } from '@wts/service-kit';
import type { Response, Router } from 'express';
import type { Bootstraps } from '../bootstrap/bootstrap.ts';
import type { ClientModels } from '../bootstrap/client-models.ts';
import { readQuestion } from '../bootstrap/question.ts';
import { chooseEncoding, sendLines, sendProduction } from '../snapshots/send.ts';

/** GET and POST /sync/bootstrap. What stands in the body takes precedence over the query. Keeps sync.bootstrap.post. */
export function mountBootstrap(router: Router, bootstraps: Bootstraps, clientModels: ClientModels): void {
  const answer = async (principal: Principal, given: BootstrapQuestion, res: Response): Promise<void> => {
    const { userId } = principal;
    const asked = await clientModels.complete(userId, given);
    const question = readQuestion(principal, asked);
    await clientModels.remember(userId, asked);
    using begun = await bootstraps.answer(question, chooseEncoding(res.req));
    const { firstLine, rest } = begun;
    if (rest === null) sendLines(res, `${firstLine}{"type":"end","rowCount":0}\n`);
    else await sendProduction(res, rest, firstLine);
  };
  mountStream(router, syncApi.bootstrap, ({ principal, query, res }) => answer(principal, query, res));
  mountStream(router, syncApi.bootstrapPost, ({ principal, query, body, res }) =>
    answer(principal, { ...query, ...body }, res),
  );
}
