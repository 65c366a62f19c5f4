-- Who may touch what: one role per service, each the owner of its own schema, none of them able to write another's.
-- Run by an administrator in the database of the service, any number of times; needs a superuser, or CREATEROLE and
-- CREATE on the database. PostgreSQL 15 and newer. Passwords are set elsewhere: no secret stands in this file.

-- The one list: what each role owns, and whether it may read what sync owns. It lasts as long as this session.
DROP TABLE IF EXISTS pg_temp.service_role;
CREATE TEMP TABLE service_role (role, schema, reads_sync) AS VALUES
  ('wts_sync',      'sync',      false),
  ('wts_workspace', 'workspace', true),
  -- Reads the models, writes nothing: every change goes through sync's commit.
  ('wts_graph',     NULL,        true);

DO $$
DECLARE
  service record;
BEGIN
  FOR service IN SELECT * FROM service_role LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = service.role) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', service.role);
    END IF;
    -- An administrator who is no superuser needs membership to hand over a schema.
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
      AND NOT pg_has_role(current_user, service.role, 'USAGE') THEN
      EXECUTE format('GRANT %I TO %I', service.role, current_user);
    END IF;
    -- A statement ends soon after the connection that waits for it, also while it waits for a lock. Some systems cannot.
    BEGIN
      EXECUTE format('ALTER ROLE %I SET client_connection_check_interval = %L', service.role, '1s');
    EXCEPTION WHEN invalid_parameter_value THEN
      RAISE WARNING 'this system does not end statements whose client has left: client_connection_check_interval stays off';
    END;
    IF service.schema IS NOT NULL THEN
      EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I AUTHORIZATION %I', service.schema, service.role);
    END IF;
    EXECUTE format('ALTER ROLE %I SET search_path = %I', service.role, coalesce(service.schema, 'sync'));
  END LOOP;
END
$$;

-- How these roles work, whichever way they come: the services say most of it themselves, and poolers drop what is said
-- while connecting. Migrations lift the bounds for themselves.
--
-- A commit sends the contents of records as text, those of several people together. None of that may reach the log of the
-- server, which other people read: not the statement that failed, nor the message or the detail that names a value, nor
-- one that was slow. So of these sessions only their violent ends are written. What failed is in the logs of the services,
-- what is slow in pg_stat_statements. An auto_explain of the server is silenced as well. Keeps never.logs.postgres.
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
    RAISE WARNING 'This role may not set % for the services: the contents of records may reach the log of this server. Have a superuser run this file, or set them in another way.',
      (SELECT string_agg(DISTINCT name, ', ') FROM unnest(refused) AS name);
  END IF;
END
$$;

-- What sync creates, now and later, these may read.
DO $$
DECLARE
  reader record;
BEGIN
  FOR reader IN SELECT * FROM service_role WHERE reads_sync LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA sync TO %I', reader.role);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA sync TO %I', reader.role);
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE wts_sync IN SCHEMA sync GRANT SELECT ON TABLES TO %I', reader.role);
  END LOOP;
END
$$;
