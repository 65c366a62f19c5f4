/** The current and only version of the public interface: the `Api-Version` header. */
export const API_VERSION = '1';
export const SUPPORTED_API_VERSIONS: readonly string[] = ['1'];
/** Version of the machine-readable description. */
export const DESCRIPTION_VERSION = '1.0.0';
/** Version of what clients and the sync service say to each other; `protocol.test.ts` pins its hash. */
export const PROTOCOL_VERSION = 1;
/** Version of what services say to each other (actions in the stream); `wire.test.ts` pins its hash. */
export const WIRE_VERSION = 2;

export const HEADERS = {
  apiVersion: 'api-version',
  requestId: 'x-request-id',
  /** Carries the internal token between services; stripped from anything a client sends. */
  principal: 'x-wts-principal',
} as const;
