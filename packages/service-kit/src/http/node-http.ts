/**
 * What services use of `node:http`. An import of it evaluates all its exports, one of which loads Node's own copy of undici:
 * 35 ms of processor time of each start.
 */
export const { createServer, ServerResponse, STATUS_CODES, get } = process.getBuiltinModule('node:http');
