import { isFree, nextFreePort, whoListens } from './processes/ports.ts';
import { Refusal } from './refusal.ts';

const API_PORT = 4000;
const AUTH_PORT = 4001;

export interface PublicPorts {
  readonly api: number;
  readonly auth: number;
  /** What a person should know about the choice. */
  readonly remarks: readonly string[];
}

/** A port that was asked for is taken or refused, never replaced; a default makes way for who is there already. */
export async function choosePorts(env: NodeJS.ProcessEnv): Promise<PublicPorts> {
  const asked = { api: readPort(env, 'PORT'), auth: readPort(env, 'AUTH_PORT') };
  if (asked.api !== null && asked.api === asked.auth)
    throw new Refusal(`PORT and AUTH_PORT are both ${asked.api}. Choose two different ports.`);
  for (const [variable, port] of [
    ['PORT', asked.api],
    ['AUTH_PORT', asked.auth],
  ] as const) {
    if (port !== null && !(await isFree(port))) {
      throw new Refusal(
        `Port ${port} (${variable}) is in use by ${whoListens(port) ?? 'another program'}.\nStop that program, or choose another port: ${variable}=${port + 10} npm start.`,
      );
    }
  }
  const remarks: string[] = [];
  const choose = async (wanted: number, from: number, what: string, except: readonly number[]) => {
    const port = await nextFreePort(from, except);
    if (port !== wanted)
      remarks.push(
        `Port ${wanted} is in use by ${whoListens(wanted) ?? 'another program'}: ${what} is at ${port} instead.`,
      );
    return port;
  };
  const api =
    asked.api ?? (await choose(API_PORT, API_PORT, 'the API', asked.auth === null ? [AUTH_PORT] : [asked.auth]));
  const auth = asked.auth ?? (await choose(AUTH_PORT, AUTH_PORT, 'sign-in', [api]));
  return { api, auth, remarks };
}

function readPort(env: NodeJS.ProcessEnv, variable: string): number | null {
  const text = env[variable];
  if (text === undefined || text === '') return null;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new Refusal(`${variable}=${text} is not a port. Use a number from 1 to 65535.`);
  return port;
}
