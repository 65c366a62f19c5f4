import type { Action } from '../call.ts';
import { usageFault } from '../fault.ts';
import { helpText } from './help.ts';
import { route } from './route.ts';
import { TOPICS } from './topics.ts';
import { ROOT } from './tree/index.ts';
import { textColumns } from './wrap.ts';

/** `wts help`, `wts help task add`, `wts help exit-codes`. */
export const help: Action = async ({ words, output }) => {
  const topic = TOPICS.find(({ name }) => name === words[0]);
  if (topic !== undefined && words.length === 1) return output.pages(topic.text(textColumns(output.look)));
  const { path, rest } = route(words, ROOT);
  if (rest.length > 0)
    throw usageFault(
      `There is no help on ${JSON.stringify(rest.join(' '))}.`,
      'wts help lists the commands and topics.',
    );
  return output.pages(helpText(path, output.look));
};
