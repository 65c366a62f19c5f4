-- One role per service. Each role owns its schema and cannot write the schema of another.
-- An administrator runs this file in the database, repeatedly if needed, as a superuser or with CREATEROLE and CREATE on the
-- database. PostgreSQL 15 and newer. It contains no passwords, which are set separately.

-- Auth may have a database of its own. Then run the file in both, in each for its roles:
--   PGOPTIONS="-c wts.roles=wts_auth"
--   PGOPTIONS="-c wts.roles=wts_sync,wts_workspace,wts_webhooks,wts_graph"

-- The schema of each role, and whether the role may read schema sync. A temporary table of this session. `npm run settings` writes
-- the rows from infra/services.ts.
DROP TABLE IF EXISTS pg_temp.service_role;
CREATE TEMP TABLE service_role (role, schema, reads_sync) AS VALUES
  ('wts_sync', 'sync', false),
  ('wts_auth', 'auth', false),
  ('wts_workspace', 'workspace', true),
  ('wts_webhooks', 'webhooks', true),
  ('wts_graph', NULL, true);

DELETE FROM pg_temp.service_role
WHERE role <> ALL (string_to_array(nullif(current_setting('wts.roles', true), ''), ','));

DO $$
DECLARE
  service record;
BEGIN
  FOR service IN SELECT * FROM service_role LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = service.role) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', service.role);
    END IF;
    -- An administrator who is no superuser needs membership in the role to create a schema for it.
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
      AND NOT pg_has_role(current_user, service.role, 'USAGE') THEN
      EXECUTE format('GRANT %I TO %I', service.role, current_user);
    END IF;
    -- Ends a statement soon after its connection has closed, also while it waits for a lock. Not every system supports this.
    BEGIN
      EXECUTE format('ALTER ROLE %I SET client_connection_check_interval = %L', service.role, '1s');
    EXCEPTION WHEN invalid_parameter_value THEN
      RAISE WARNING 'this system cannot end statements whose client has disconnected: client_connection_check_interval stays off';
    END;
    IF service.schema IS NOT NULL THEN
      EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', service.schema, service.role);
    END IF;
    EXECUTE format('ALTER ROLE %I SET search_path = %I', service.role, coalesce(service.schema, 'sync'));
  END LOOP;
END
$$;

-- For the search: parts of words; and ids beside words, for the index of an earlier migration. Both are part of PostgreSQL.
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA public;

-- Settings of the roles. The services set most of them too, but poolers drop parameters of a connection. Migrations raise
-- their own timeouts.
--
-- A commit sends the content of records as text. None of it may appear in the server log, which other people read: no failed
-- or slow statement, and no message or detail with a value. So the server logs only fatal errors of these sessions. The
-- services log failed statements, and pg_stat_statements has slow ones. This also silences auto_explain. Keeps
-- never.logs.postgres.
DO $$
DECLARE
  wanted record;
  refused text[] := '{}';
BEGIN
  FOR wanted IN
    SELECT * FROM
      service_role,
      (VALUES
        ('log_min_messages', 'fatal'),
        ('log_min_error_statement', 'panic'),
        ('log_error_verbosity', 'terse'),
        ('log_statement', 'none'),
        ('log_min_duration_statement', '-1'),
        ('jit', 'off'),
        ('statement_timeout', '15s'),
        ('lock_timeout', '5s'),
        ('idle_in_transaction_session_timeout', '10s')
      ) AS settings (name, value)
  LOOP
    BEGIN
      EXECUTE format('ALTER ROLE %I SET %I = %L', wanted.role, wanted.name, wanted.value);
    EXCEPTION WHEN insufficient_privilege THEN
      refused := refused || wanted.name;
    END;
  END LOOP;
  IF cardinality(refused) > 0 THEN
    RAISE WARNING 'This role may not set % for the services, so the content of records may appear in the log of this server. Run this file as a superuser, or set them in another way.',
      (SELECT string_agg(DISTINCT name, ', ') FROM unnest(refused) AS name);
  END IF;
END
$$;

-- GraphQL reads by indexes that begin with the group or the id, never a whole table: that takes longer the more others have in it.
ALTER ROLE wts_graph SET enable_seqscan = off;

-- PostgreSQL lets every role take any advisory lock and store large objects without a bound, in every database. In this one only
-- the roles with a schema may take advisory locks, for migrations, leases and turns; none of these locks stops a commit, because
-- that of the log is the lock of a table. Nobody stores large objects. Keeps never.locks.
DO $$
DECLARE
  builtin record;
  role_name text;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE WARNING 'This role may not change the rights of PostgreSQL''s own functions, so every role may take advisory locks and store large objects. Run this file as a superuser.';
    RETURN;
  END IF;
  FOR builtin IN
    SELECT oid::regprocedure AS signature, proname ~ 'advisory' AS locks FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace
      AND (proname ~ '^pg_(try_)?advisory_' OR proname ~ '^lo_' OR proname IN ('loread', 'lowrite'))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', builtin.signature);
    FOR role_name IN SELECT role FROM service_role WHERE builtin.locks AND schema IS NOT NULL LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', builtin.signature, role_name);
    END LOOP;
  END LOOP;
END
$$;

-- These roles may read all present and future tables of sync, and no others. Before version 0.2 auth could read them too: run this file
-- again when no older auth service runs any more.
-- Contracts usage on schema sync to wts_auth, select on all tables in schema sync to wts_auth: the upgrade from 0.1.0 stops the system.
DO $$
DECLARE
  reader record;
BEGIN
  IF NOT EXISTS (SELECT FROM service_role WHERE schema = 'sync') THEN
    RETURN;
  END IF;
  FOR reader IN SELECT * FROM service_role WHERE NOT reads_sync AND schema <> 'sync' LOOP
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA sync FROM %I', reader.role);
    EXECUTE format('REVOKE ALL ON SCHEMA sync FROM %I', reader.role);
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE wts_sync IN SCHEMA sync REVOKE ALL ON TABLES FROM %I', reader.role);
  END LOOP;
  FOR reader IN SELECT * FROM service_role WHERE reads_sync LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA sync TO %I', reader.role);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA sync TO %I', reader.role);
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE wts_sync IN SCHEMA sync GRANT SELECT ON TABLES TO %I', reader.role);
  END LOOP;
END
$$;

-- In a database from before the auth service, schema workspace has the identities and API keys, which the migrations of auth
-- copy. Once the tables are gone, so is the right.
DO $$
DECLARE
  moved text;
BEGIN
  IF (SELECT count(*) FROM service_role WHERE schema IN ('auth', 'workspace')) < 2 THEN
    RETURN;
  END IF;
  REVOKE USAGE ON SCHEMA workspace FROM wts_auth;
  FOR moved IN
    SELECT tablename FROM pg_tables WHERE schemaname = 'workspace' AND tablename IN ('identities', 'api_keys')
  LOOP
    GRANT USAGE ON SCHEMA workspace TO wts_auth;
    EXECUTE format('GRANT SELECT ON workspace.%I TO wts_auth', moved);
  END LOOP;
END
$$;
