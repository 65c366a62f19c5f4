/** The beginning of every operator token, before 32 random bytes and a checksum. */
export const OPERATOR_TOKEN_PREFIX = 'wtsop_';
