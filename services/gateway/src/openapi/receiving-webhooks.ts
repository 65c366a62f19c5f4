import { webhookApi } from '@wts/contracts';

/** What a receiver of webhooks needs to know, in Markdown. Its example in Python is run by receiving-webhooks.test.ts. */
export const RECEIVING_WEBHOOKS = `## Receiving webhooks

\`POST ${webhookApi.createEndpoint.path}\` makes an endpoint of a workspace. From then on it receives each event as a signed \`POST\`, whose body is the
\`payload\` of a delivery. What is inside a private project reaches no endpoint. Deliveries follow the
[Standard Webhooks](https://www.standardwebhooks.com) specification, for which most languages have a library:

| header | value |
|---|---|
| \`webhook-id\` | the \`id\` of the event, the same on every attempt. A delivery can arrive twice: remember the ids that you handled |
| \`webhook-timestamp\` | Unix seconds of this attempt. Refuse one that is more than five minutes away from your clock |
| \`webhook-signature\` | \`v1,\` and a signature in base64; after \`rotate-secret\` one for each secret in force, separated by spaces |

A signature is the HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\`, with the bytes of the body as they came. Its key is the secret
after \`whsec_\`, decoded from base64. In Python:

    import base64, hashlib, hmac, time

    def is_genuine(secret, headers, body):  # body: bytes, not parsed
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        is_signed = any(hmac.compare_digest(wanted, one) for one in headers["webhook-signature"].split(" "))
        return is_signed and abs(time.time() - int(headers["webhook-timestamp"])) <= 300

- **Answer** 2xx within ten seconds; do slow work afterwards. A redirect is a failure. \`410\` switches the endpoint off, and so do about
  three days without a success.
- **Retries** follow after 5 seconds, 5 minutes, 30 minutes, 2, 5, 10 and 10 hours; then the delivery is \`failed\`. The operator may
  have set other times.
- **Order.** Events come in the order of the log, except that retries come later. Of two events the one with the larger \`syncActionId\`,
  compared as an integer, is newer.
- **After a time of being down**, \`pending\` deliveries still come by that schedule; \`retry\` attempts one of them at once. \`replay\` is for
  those that are \`failed\`, and does not count the others.
- **On your machine**, \`wts webhook listen --forward-to http://localhost:3000/hooks\` (in a checkout \`npm run listen -- …\`) makes an endpoint and
  forwards its deliveries to your program, while it runs.
`;
