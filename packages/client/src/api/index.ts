export { createApiClient, type ApiClient, type ApiClientOptions, type GraphqlOptions } from './client.ts';
export { GraphqlError, type GraphqlErrorEntry } from './graphql-error.ts';
export type * from './operations.ts';
export type { OperationOptions } from './request.ts';
export { SyncError } from '../error.ts';
