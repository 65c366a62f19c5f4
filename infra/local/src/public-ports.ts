// @boundaries-ignore: see services.ts.
import { PUBLIC_PORTS } from '../../services.ts';
import { isFree, nextFreePort, describeListener } from './processes/ports.ts';
import { UserError } from './user-error.ts';

const { PORT: API_PORT, AUTH_PORT } = PUBLIC_PORTS;

const MAIL_PORT = 4002;
const OBSERVE_PORT = 4003;

export interface PublicPorts {
  readonly api: number;
  readonly auth: number;
  /** Of the page with the mails, any that is free. */
  readonly mail: number;
  /** Of the page with figures and traces, any that is free. */
  readonly observe: number;
  /** Messages for the user about the choice. */
  readonly remarks: readonly string[];
}

/** Uses the configured ports or fails. When a default port is in use, it chooses the next free one. */
export async function choosePorts(env: NodeJS.ProcessEnv): Promise<PublicPorts> {
  const configured = { api: readPort(env, 'PORT'), auth: readPort(env, 'AUTH_PORT') };
  if (configured.api !== null && configured.api === configured.auth)
    throw new UserError(`PORT and AUTH_PORT are both ${configured.api}. Choose two different ports.`);
  for (const [variable, port] of [
    ['PORT', configured.api],
    ['AUTH_PORT', configured.auth],
  ] as const) {
    if (port !== null && !(await isFree(port))) {
      throw new UserError(
        `Port ${port} (${variable}) is in use by ${describeListener(port) ?? 'another program'}.\nStop that program, or choose another port: ${variable}=${port + 10} npm start.`,
      );
    }
  }
  const remarks: string[] = [];
  const choose = async (wanted: number, from: number, what: string, except: readonly number[]) => {
    const port = await nextFreePort(from, except);
    if (port !== wanted)
      remarks.push(
        `Port ${wanted} is in use by ${describeListener(wanted) ?? 'another program'}, so ${what} uses port ${port}.`,
      );
    return port;
  };
  const api =
    configured.api ??
    (await choose(API_PORT, API_PORT, 'the API', configured.auth === null ? [AUTH_PORT] : [configured.auth]));
  const auth = configured.auth ?? (await choose(AUTH_PORT, AUTH_PORT, 'sign-in', [api]));
  const mail = await nextFreePort(MAIL_PORT, [api, auth]);
  const observe = await nextFreePort(OBSERVE_PORT, [api, auth, mail]);
  return { api, auth, mail, observe, remarks };
}

function readPort(env: NodeJS.ProcessEnv, variable: string): number | null {
  const text = env[variable];
  if (text === undefined || text === '') return null;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new UserError(`${variable}=${text} is not a port. Use a number from 1 to 65535.`);
  return port;
}
