import { apiKeyApi, syncApi, workspaceApi } from '@wts/contracts';

/** The quick start, in Markdown: from the first key to following every change. */
export function quickStart(server: string): string {
  return `## Quick start

**1. Get an API key.** \`npm start\` prints one for the demo workspace. Otherwise sign in, and use the token of the signed-in user once
to create a key (the answer shows the key only this time):

    curl ${server}${apiKeyApi.createApiKey.path} -H "Authorization: Bearer $TOKEN" \\
      -H 'Content-Type: application/json' -d '{"label": "my laptop"}'

**2. Find your workspace**, or create one with \`POST ${workspaceApi.createWorkspace.path}\`:

    curl ${server}${workspaceApi.listWorkspaces.path} -H "Authorization: Bearer $API_KEY"

**3. Create a task.** You choose its id, a new UUID. Check \`success\` in the answer:

    TASK=$(uuidgen)
    curl ${server}${syncApi.mutate.path} -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d @- <<END
    {"batchId": "1", "transactions": [{"clientTxId": "$(uuidgen)", "clientId": "terminal", "modelName": "Task",
      "modelId": "$TASK", "action": "INSERT", "payload": {"workspaceId": "$WORKSPACE", "title": "My first task"}}]}
    END

**4. List the tasks** of the workspace, one JSON object per line:

    curl ${server}${syncApi.batch.path} -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d @- <<END
    {"requests": [{"modelName": "Task", "indexedKey": "workspaceId", "keyValue": "$WORKSPACE"}]}
    END

**5. Complete the task:** the same call as in step 3 with \`"action": "UPDATE"\` and \`"payload": {"completedAt": "2026-11-21T17:30:00Z"}\`.

**6. Move it to the Trash:** \`"action": "ARCHIVE"\` and \`"payload": {}\`. Until it is restored with \`UNARCHIVE\`, other changes get
\`record_archived\`; some weeks later it is deleted for good, by default after 30 days.

**7. Follow every change**, from the \`lastSyncId\` of the last answer on; or live over the WebSocket \`${syncApi.socket.path}\`:

    curl "${server}${syncApi.deltas.path}?after=0" -H "Authorization: Bearer $API_KEY"`;
}
