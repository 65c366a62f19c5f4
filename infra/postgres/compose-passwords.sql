-- For infra/compose.yaml: gives the roles the passwords that are in the URLs of the services. Made by `npm run settings`.
SET log_statement = none;
SET log_min_error_statement = panic;
SET log_min_duration_statement = -1;
\set password `echo "$SYNC_DATABASE_URL" | sed 's|^[^:]*://[^:]*:||; s|@.*||'`
ALTER ROLE wts_sync PASSWORD :'password';
\set password `echo "$AUTH_DATABASE_URL" | sed 's|^[^:]*://[^:]*:||; s|@.*||'`
ALTER ROLE wts_auth PASSWORD :'password';
\set password `echo "$WORKSPACE_DATABASE_URL" | sed 's|^[^:]*://[^:]*:||; s|@.*||'`
ALTER ROLE wts_workspace PASSWORD :'password';
\set password `echo "$WEBHOOK_DISPATCHER_DATABASE_URL" | sed 's|^[^:]*://[^:]*:||; s|@.*||'`
ALTER ROLE wts_webhooks PASSWORD :'password';
\set password `echo "$GRAPH_DATABASE_URL" | sed 's|^[^:]*://[^:]*:||; s|@.*||'`
ALTER ROLE wts_graph PASSWORD :'password';
