/** The fragment of the address names what the page shows: it is never sent to a server, and it holds ids only. */

/**
 * @typedef {object} Route
 * @property {string} [workspaceId]
 * @property {string} [endpointId]
 * @property {DeliveryPlace} [delivery]
 */

/**
 * Where a delivery is in the list of its endpoint: `createdAt` is unique there.
 * @typedef {object} DeliveryPlace
 * @property {string} id
 * @property {number} createdAtMs
 */

const UUID = '[\\da-f]{8}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{4}-[\\da-f]{12}';
const ROUTE = new RegExp(`^#/(${UUID})(?:/(${UUID})(?:/(${UUID})/(\\d{1,15}))?)?$`);

/**
 * @param {string} hash
 * @returns {Route}
 */
export function parseRoute(hash) {
  const [, workspaceId, endpointId, id, createdAtMs] = ROUTE.exec(hash) ?? [];
  if (workspaceId === undefined) return {};
  if (endpointId === undefined) return { workspaceId };
  if (id === undefined) return { workspaceId, endpointId };
  return { workspaceId, endpointId, delivery: { id, createdAtMs: Number(createdAtMs) } };
}

/** @param {Route} route */
export function hrefOf({ workspaceId, endpointId, delivery }) {
  const parts = [workspaceId, endpointId, delivery?.id, delivery?.createdAtMs];
  return `#/${parts.filter((part) => part !== undefined).join('/')}`;
}
