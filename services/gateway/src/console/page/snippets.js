/** Programs that receive deliveries and verify them, ready to run: `WEBHOOK_SECRET=whsec_... node receive.mjs`. */

const RECEIVE = `createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  // The bytes as they came: parse them only after they are verified.
  const body = Buffer.concat(chunks).toString('utf8');
`;

const ANSWER = `  // Answer within 10 seconds. A delivery can come twice: event.id is the same then.
  console.log(event.type, event.id);
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 8080));
`;

/** @type {readonly { name: string, text: string }[]} */
export const SNIPPETS = [
  {
    name: 'Node with standardwebhooks',
    text: `// npm install standardwebhooks
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

${RECEIVE}  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(400).end();
    return;
  }
${ANSWER}`,
  },
  {
    name: 'Node without packages',
    text: `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = Buffer.from(process.env.WEBHOOK_SECRET.replace('whsec_', ''), 'base64');

function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  // Older than five minutes: a delivery that was recorded and sent again.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const expected = createHmac('sha256', secret).update(\`\${id}.\${timestamp}.\${body}\`).digest();
  // After a rotation there are two signatures for a day.
  return signatures.split(' ').some((signature) => {
    const [version, value = ''] = signature.split(',');
    const given = Buffer.from(value, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

${RECEIVE}  if (!isSigned(request.headers, body)) {
    response.writeHead(400).end();
    return;
  }
  const event = JSON.parse(body);
${ANSWER}`,
  },
];
