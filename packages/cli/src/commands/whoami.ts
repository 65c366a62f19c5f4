import type { Call } from '../call.ts';

/** Also says where the credential and the address came from, because a variable may take precedence over a login. */
export async function whoami({ session, output }: Call): Promise<void> {
  const { viewer, token, server, settings } = await session();
  const person = await viewer();
  const { name, email, id } = person;
  await output.record(person, id, [
    { title: 'Name', isHeading: true, value: name, shown: email === null ? name : `${name} <${email}>` },
    { title: 'Id', value: id },
    { title: 'Service', value: server.url, shown: `${server.url} (${server.source})` },
    { title: 'Credential', value: token.source },
    {
      title: 'Workspace',
      value: settings.workspace?.value,
      shown: settings.workspace === null ? '' : `${settings.workspace.value} (${settings.workspace.source})`,
    },
  ]);
}
