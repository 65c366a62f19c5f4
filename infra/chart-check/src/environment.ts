import { describeSettings, LOCAL_JWT, makeSecrets, serviceFile, tokenSettings } from '@wts/local';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { EnvironmentVariable, KubernetesObject } from './objects.ts';

const run = promisify(execFile);
/** Read by Node, by the driver of PostgreSQL, by OpenTelemetry, or by other variables. */
const OF_OTHERS =
  /^(NODE_OPTIONS|NODE_EXTRA_CA_CERTS|PGPASSWORD|NATS_PASSWORD|CELL_\d+_NATS_URL|POD_NAME|POD_UID|NODE_NAME|OTEL_RESOURCE_ATTRIBUTES)$/;
const secrets = makeSecrets();
const NATS_URL = 'nats://user:password@nats:4222';

/** What is wrong with the environment of the service in a Deployment. The service itself judges it, with secrets made for this. */
export async function wrongEnvironment({ metadata, spec }: KubernetesObject): Promise<readonly string[]> {
  const [container] = spec?.template?.spec.containers ?? [];
  if (container === undefined) return [`${metadata.name} has no container`];
  const { name, env = [] } = container;
  const known = (await describeSettings(name)).settings.map(({ variable }) => variable);
  const names = env.map((variable) => variable.name);
  const unknown = names.filter((variable) => !known.includes(variable) && !OF_OTHERS.test(variable));
  const twice = names.filter((variable, at) => names.indexOf(variable) !== at);
  const refusal = await checkConfig(name, expand(name, env));
  return [
    ...unknown.map((variable) => `${name} has no setting ${variable}`),
    ...twice.map((variable) => `${name} has ${variable} twice`),
    ...(refusal === null ? [] : [`${name}: ${refusal}`]),
  ];
}

/** As the kubelet does: $(NAME) is the value of a variable above it. */
function expand(service: string, env: readonly EnvironmentVariable[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { name, value, valueFrom } of env) {
    if (value === undefined && valueFrom?.secretKeyRef?.optional === true) continue;
    values[name] = (value ?? secretOf(service, name)).replaceAll(
      /\$\((\w+)\)/g,
      (text, used: string) => values[used] ?? text,
    );
  }
  return values;
}

function secretOf(service: string, variable: string): string {
  const { issuer, audience } = LOCAL_JWT;
  const made: Record<string, string> = {
    ...tokenSettings(service, secrets),
    DATABASE_URL: 'postgres://role:password@database:5432/wts',
    DATABASE_REPLICA_URL: 'postgres://role:password@replica:5432/wts',
    NATS_URL,
    CELL_1_NATS_URL: NATS_URL,
    REPLAY_SECRET: secrets.replaySecret,
    AUTH_SECRET_KEY: secrets.authSecretKey,
    WEBHOOK_SECRET_KEY: secrets.webhookSecretKey,
    JWT_ISSUERS: JSON.stringify([{ issuer, audiences: [audience], algorithms: ['HS256'], secret: secrets.jwtSecret }]),
  };
  return made[variable] ?? 'secret';
}

async function checkConfig(name: string, env: Record<string, string>): Promise<string | null> {
  try {
    // A file of authorities of the pod does not exist here.
    const { NODE_EXTRA_CA_CERTS: _, ...others } = env;
    await run(process.execPath, [serviceFile(name, 'main'), 'check-config'], { env: others });
    return null;
  } catch (failure) {
    return (failure as { stderr?: string }).stderr ?? String(failure);
  }
}
