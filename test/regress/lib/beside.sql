\set ECHO none
-- beside.sql: queries under some settings beside the same queries under others.
--
-- For the tests that include it, whose output shows nothing of it.  Settings are one text of name=value, with
-- spaces between them, and hold to the end of the transaction.  The functions are the session's own, in pg_temp.

CREATE FUNCTION pg_temp.apply(settings text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config(split_part(s, '=', 1), split_part(s, '=', 2), true) FROM string_to_table(settings, ' ') s;
END
$$;

-- EXECUTE name becomes EXECUTE prefixname with the prefix that the setting beside.prefix has: plans that are kept are told
-- apart by it.  Like all of this file it takes no function that tests revoke, such as texteq.
CREATE FUNCTION pg_temp.prefixed(query text) RETURNS text LANGUAGE sql AS
    $$ SELECT regexp_replace(query, '^EXECUTE ', 'EXECUTE ' || coalesce(current_setting('beside.prefix', true), '')) $$;

-- EXPLAIN's lines as one text; NULL for a query that cannot be planned.
CREATE FUNCTION pg_temp.plan(query text, settings text DEFAULT '', options text DEFAULT 'VERBOSE, COSTS OFF') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    line text;
    lines text[];
BEGIN
    PERFORM pg_temp.apply(settings);
    BEGIN
        FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, pg_temp.prefixed(query)) LOOP
            lines := array_append(lines, line);
        END LOOP;
    EXCEPTION WHEN OTHERS THEN
        RETURN NULL;
    END;
    RETURN array_to_string(lines, E'\n');
END
$$;

-- The lines of a plan that match.
CREATE FUNCTION pg_temp.plan_lines(query text, pattern text, options text DEFAULT 'VERBOSE, COSTS OFF') RETURNS SETOF text
LANGUAGE sql AS $$ SELECT l FROM string_to_table(pg_temp.plan(query, '', options), E'\n') l WHERE l ~ pattern $$;

-- A query's rows in their order as text, or its error; then what functions noted, by commas, in the setting beside.seen.
CREATE FUNCTION pg_temp.outcome(query text, settings text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    line record;
    lines text[];
BEGIN
    PERFORM pg_temp.apply(settings || ' beside.seen=');
    BEGIN
        IF query LIKE 'EXECUTE %' THEN
            FOR line IN EXECUTE pg_temp.prefixed(query) LOOP
                lines := array_append(lines, line::text);
            END LOOP;
            lines := ARRAY(SELECT l FROM unnest(lines) l ORDER BY l COLLATE "C");
        ELSE
            -- rows read one by one would leave the workers unused
            EXECUTE 'SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (' || query || ') q' INTO lines;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        lines := ARRAY[format('%s (%s)', SQLERRM, SQLSTATE)];
    END;
    RETURN coalesce(lines, '{}') || (SELECT array_agg(DISTINCT 'seen ' || s ORDER BY 'seen ' || s)
                                     FROM string_to_table(current_setting('beside.seen'), ',') s WHERE s <> '');
END
$$;

-- Each query's outcome under the settings 'base', its plan under the first of 'others', and the outcomes under 'others'
-- that are different ('' if none is).  Queries are without their SELECT or whole.
CREATE FUNCTION pg_temp.beside(base text, others text[], queries text[])
RETURNS TABLE (query text, expected text[], plan text, differences text) LANGUAGE plpgsql AS $$
DECLARE
    whole text;
    settings text;
    found text[];
BEGIN
    FOREACH query IN ARRAY queries LOOP
        whole := CASE WHEN query ~ '^(SELECT|WITH|EXECUTE) ' THEN '' ELSE 'SELECT ' END || query;
        expected := pg_temp.outcome(whole, base);
        plan := pg_temp.plan(whole, others[1]);
        differences := '';
        FOREACH settings IN ARRAY others LOOP
            found := pg_temp.outcome(whole, settings);
            IF found IS DISTINCT FROM expected THEN
                differences := differences || format(' DIFFERENT with %s: %s', settings, left(found::text, 300));
            END IF;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END
$$;

\set ECHO all
