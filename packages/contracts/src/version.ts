/** The current and only version of the public interface: the `Api-Version` header. */
export const API_VERSION = '1';
export const SUPPORTED_API_VERSIONS: readonly string[] = ['1'];
/** Version of the machine-readable description. */
export const DESCRIPTION_VERSION = '1.0.0';
/** Version of the protocol between clients and sync; `protocol.test.ts` pins its hash. */
export const PROTOCOL_VERSION = 2;
/** Version of the chunks between services; `wire.test.ts` pins their bytes. */
export const WIRE_VERSION = 4;
/** The version before, which services read too: it has no shard, and is of log 0. */
export const WIRE_VERSION_BEFORE = 3;

export const HEADERS = {
  apiVersion: 'api-version',
  requestId: 'x-request-id',
  /** The internal token between services; the gateway removes it from requests of clients. */
  principal: 'x-wts-principal',
  /** The network of the caller, as the gateway counts it; removed from requests of clients too. */
  network: 'x-wts-network',
  /** The number of the cell that asks auth; none for the first. Removed from requests of clients too. */
  shard: 'x-wts-shard',
} as const;
