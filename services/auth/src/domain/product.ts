/** The name of this service for people. */
export const PRODUCT = 'Workspace Task Service';
