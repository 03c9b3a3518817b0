-- Vector programs beside core's executor: every function that is an instruction, over values at the
-- ends of types.  vector_differs() is in test/modules/gpuagg_test_vectors.c.
\set ECHO none
\set QUIET on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
BEGIN;
SELECT no_plan();
CREATE FUNCTION vector_differs(query text, conditional boolean DEFAULT false, narrow boolean DEFAULT false, OUT scanned bigint,
    OUT passed bigint, OUT flagged bigint, OUT by_row integer, OUT differs bigint, OUT example text)
    AS '$libdir/gpuagg_test_vectors' LANGUAGE C STRICT;
CREATE FUNCTION vector_uncovered() RETURNS oid[] AS '$libdir/gpuagg_test_vectors' LANGUAGE C STRICT;
\i test/modules/vector_edges.sql

-- Of a timestamptz and a date or timestamp.
CREATE FUNCTION zoned(p pg_proc) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p.pronargs = 2 AND 'timestamptz'::regtype = ANY (p.proargtypes)
           AND ('date'::regtype = ANY (p.proargtypes) OR 'timestamp'::regtype = ANY (p.proargtypes)) $$;
-- Calls by the types of their arguments, with columns; these have arguments that must be constant.
CREATE TEMP TABLE calls AS
SELECT format('pg_catalog.%I(%s)', p.proname,
              (SELECT string_agg(t.typname || CASE WHEN n = 1 OR p.proargtypes[0] <> p.proargtypes[1]
                                              THEN '_a' ELSE '_b' END, ', ' ORDER BY n)
               FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n)
               JOIN pg_type t ON t.oid = a.type)) AS expression
FROM unnest(vector_uncovered()) f JOIN pg_proc p ON p.oid = f
WHERE NOT 'interval'::regtype = ANY (p.proargtypes) AND p.proname !~ 'like|date_trunc|date_part|extract|round|timezone'
      AND NOT (p.proname = 'numeric' AND p.pronargs = 2);
-- Constants by TimeZone, and columns beside constants.
INSERT INTO calls
SELECT format('%I.%I(%s)', 'pg_catalog', p.proname,
              (SELECT string_agg(CASE WHEN type = 'timestamptz'::regtype THEN 'timestamptz_a'
                                 ELSE format('%L::%s', value, type::regtype) END, ', ' ORDER BY n)
               FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n)))
FROM unnest(vector_uncovered()) f JOIN pg_proc p ON p.oid = f, unnest(ARRAY['2000-01-01', '5000-01-01', 'infinity', '-infinity']) value
WHERE zoned(p);
INSERT INTO calls
SELECT format('%I.%I(%s)', 'pg_catalog', p.proname,
              (SELECT string_agg(CASE WHEN type = 'timestamptz'::regtype THEN format('%L::timestamptz', value)
                                 ELSE (SELECT typname FROM pg_type WHERE oid = type) || '_a' END, ', ' ORDER BY n)
               FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n)))
FROM unnest(vector_uncovered()) f JOIN pg_proc p ON p.oid = f, unnest(ARRAY['2000-01-01', '1999-12-31 23:59:59.999999', '-infinity']) value
WHERE zoned(p);

INSERT INTO calls VALUES
    ('numeric_a::numeric(15,1)'), ('numeric_a::numeric(10,0)'), ('numeric_w::numeric(38,8)'),
    ('numeric_w::numeric(12,2)'), ('numeric_b::numeric(3,3)'), ('int4_a::numeric(5,1)'), ('int8_a::numeric(18,0)'),
    ('int8_a::numeric(20,2)'), ('round(numeric_a,1)'), ('round(numeric_w,8)'), ('round(numeric_b,0)'),
    ('round(numeric_a,5)'), ('numeric_a::int2'), ('numeric_a::int4'), ('numeric_w::int8'), ('numeric_w::int4'),
    ('numeric_w::float8'), ('numeric_b::float8'), ('numeric_a*numeric_a*numeric_a'), ('numeric_w*numeric_b'),
    ('numeric_w*numeric_w'), ('numeric_a*(1-numeric_b)*(1+numeric_a)'), ('numeric_a+int4_a'), ('numeric_a-int8_a'),
    ('int8_a*1.1'), ('-numeric_w'), ('abs(numeric_b)'), ('+numeric_a'), ('numeric_a<numeric_b'),
    ('numeric_w>=numeric_a'), ('numeric_a=1.5'), ('numeric_a=1.500000'), ('numeric_a<>12345678901234567890123.1'),
    ('numeric_a in (1,1.50,0.010,0.001,''NaN'',99999999999999999999)'), ('numeric_a in (1,null)'),
    ('numeric_a not in (1,0.05)'), ('numeric_a not in (1,0.05,null)'), ('int4_a in (1,2,3)'),
    ('int4_a not in (1,-1,null)'), ('int8_a in (1::int4,2,3)'), ('int2_a in (1::int8,70000)'),
    ('float4_a in (1::float8,2.5,''nan'')'), ('float8_a in (0,''nan'',''inf'',2.5)'),
    ('text_a in (''a'',''abc'','''',null)'), ('text_a not in (''a'',''b'')'), ('bpchar_a in (''abc'',''a '')'),
    ('varchar_a in (''a'',''ab'')'), ('name_a in (''a'',''ab'')'), ('date_a in (''2000-01-01'',''infinity'')'),
    ('timestamp_a in (''2000-01-01'',''infinity'')'),
    ('uuid_a in (''00000000-0000-0000-0000-000000000000'',''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'')'),
    ('oid_a in (1,4294967295)'), ('char_a in (''a'',''1'')'), ('int4_a = any(array[int4_b,1,2])'),
    ('int4_a <> all(array[int4_b,1])'), ('bytea_a in (''\x61'',''\x'')'),
    ('int4_a in (1,2,3,4,5,6,7,8,9,10,11,12,null)'),
    ('text_a in (''a'',''b'',''c'',''d'',''e'',''f'',''g'',''h'',''i'',''j'',''abc'')'),
    ('int4_a between -100 and 5'), ('int4_a is distinct from int4_b'), ('text_a is not distinct from text_b'),
    ('numeric_a is distinct from numeric_b'), ('nullif(int4_a,int4_b)'), ('nullif(text_a,''a'')'),
    ('nullif(numeric_a,numeric_b)'), ('nullif(float8_a,0)'), ('nullif(int4_a,int8_b)'), ('bool_a and bool_b'),
    ('bool_a or bool_b'), ('not bool_a'), ('bool_a is true'), ('bool_a is not true'), ('bool_a is false'),
    ('bool_a is not false'), ('bool_a is unknown'), ('bool_a is not unknown'), ('int4_a is null'),
    ('text_a is not null'), ('interval_a is null'), ('jsonb_a is not null'), ('int4_b <> 0 and int4_a/int4_b > 0'),
    ('int4_b = 0 or int4_a/int4_b > 0'), ('(int4_a > 0 and bool_a) or (int4_b = 0 or 100/int4_b > 1)'),
    ('case when int4_b <> 0 then int4_a / int4_b end'), ('case when int4_b = 0 then 0 else int4_a / int4_b end'),
    ('case int4_b when 0 then null when 1 then 5 else int4_a % int4_b end'),
    ('case when bool_a then numeric_a else 0.00 end'),
    ('case when bool_a then numeric_a when bool_b then null else 1.25 end'),
    ('case when bool_a then ''x'' when bool_b then text_a end'),
    ('case text_a when ''a'' then 1 when ''ab'' then 2 else 3 end'),
    ('case when bool_a then int4_a else int2_a end'), ('case when bool_a then bpchar_a else null end'),
    ('coalesce(int4_a, int4_b, 7)'), ('coalesce(text_a, text_b)'), ('coalesce(numeric_a, 0.00)'),
    ('coalesce(bool_a, bool_b)'), ('coalesce(int4_b, 10/int2_b)'), ('coalesce(date_a, ''2000-01-01'')'),
    ('greatest(int4_a,int4_b,0)'), ('least(int8_a,int4_b)'), ('greatest(float8_a,float8_b)'),
    ('least(float8_a,float8_b,0)'), ('least(float4_a,float4_b)'), ('greatest(text_a,text_b)'),
    ('least(date_a,date_b)'), ('greatest(timestamp_a,timestamp_b)'), ('greatest(numeric_w,''0.000000'')'),
    ('least(uuid_a,uuid_b)'), ('greatest(bytea_a,bytea_b)'), ('least(money_a,money_b)'),
    ('greatest(timestamptz_a,timestamptz_b)'), ('date_a + 1'), ('date_a - 1'), ('date_a + 2147483647'),
    ('date_a - int4_b'), ('date_a + int4_a'), ('date_a - date_b'), ('date_a::timestamp'), ('timestamp_a::date'),
    ('timestamp_a::time'), ('date_a + time_a'), ('date_a + interval ''1 day'''),
    ('date_a - interval ''3 days -5 hours'''), ('timestamp_a + interval ''1 day 2 hours'''),
    ('timestamp_a - interval ''100000000 days'''), ('timestamp_a + interval ''-1000000 days 24000000 hours'''),
    ('timestamp_a - interval ''0.000001 s'''), ('timestamptz_a + interval ''1 hour'''),
    ('timestamptz_a - interval ''90 s'''), ('time_a + interval ''3 days 25 hours'''),
    ('time_a - interval ''0.5 s'''), ('date_a < timestamp_a'), ('date_a >= timestamp_b'),
    ('date_bin(''15 min'', timestamp_a, ''2001-01-01'')'),
    ('date_bin(''1 day 1 s'', timestamp_a, ''2001-01-01 00:00:07'')'),
    ('date_bin(''1 us'', timestamp_a, ''1900-01-01'')'), ('date_bin(''1 hour'', timestamptz_a, ''2001-01-01+00'')'),
    ('text_a = ''abc'''), ('text_a like ''a%'''), ('text_a like ''%a'''), ('text_a like ''%b%'''),
    ('text_a like ''a%c'''), ('text_a like ''a\%b'''), ('text_a like ''%X%X%'''), ('text_a like '''''),
    ('text_a like ''%'''), ('text_a not like ''%ä%'''), ('text_a like ''a'''), ('name_a like ''a%'''),
    ('name_a not like ''a%'''), ('varchar_a like ''%b%'''), ('"like"(text_a,''a%'')'), ('notlike(text_a,''a%'')'),
    ('text_a < ''b'''), ('bpchar_a = ''abc'''), ('bpchar_a = bpchar_b'), ('bpchar_a::text = text_b'), ('bpchar_a'),
    ('bpchar_b'), ('name_a'), ('char_a'), ('uuid_a'), ('text_a >= text_b'), ('varchar_a = text_b'), ('varchar_a'),
    ('oid_a'), ('money_a'), ('time_a'), ('numeric_w'), ('float4_a'), ('float8_a'), ('bool_a'), ('bytea_a'),
    ('money_a * 3::int2'), ('money_a / 3'), ('2 * money_a'), ('money_a / money_b'), ('date_a > current_date'),
    ('timestamptz_a < now()'), ('timestamptz_a < now() - interval ''1 day'''), ('timestamp_a < localtimestamp'),
    ('int4_a + 1 + 2 * int4_b - int4_a % 7'), ('(int4_a + int8_b) * int2_a'), ('-int2_a'), ('abs(int8_a)'),
    ('float8_a + float4_b * 2'), ('1 / float8_a'), ('float8_a::int4'), ('float4_a::int8'), ('float8_a::float4'),
    ('bool_a::int4'), ('int4_a::bool'), ('int8_a::int2'), ('oid_a::int8'), ('int4_a::float4'), ('int8_a::float8');
INSERT INTO calls VALUES
    ('hundreds_a'), ('hundreds_a + 1'), ('hundreds_a < numeric_a'), ('tiny_a'), ('-tiny_a'), ('number_a'),
    ('number_a * 2'), ('number_a > numeric_a'), ('string_a'), ('string_a = bpchar_a'), ('string_a IN ($$a$$, $$abc$$)'),
    -- the same division where it is allowed and where it is not
    ('CASE WHEN int4_b <> 0 THEN 100 / int4_b ELSE 0 END + CASE WHEN int4_a <> 0 THEN 100 / int4_b ELSE 1 END');
-- A date beside a constant: at midnight, about it, at the ends.
INSERT INTO calls SELECT format(CASE WHEN first THEN 'date_a %s timestamp %L' ELSE 'timestamp %2$L %1$s date_a' END, op, stamp)
FROM unnest('{<,<=,=,>=,>,<>}'::text[]) op, unnest(ARRAY[true, false]) first,
     unnest('{2000-01-01,1999-12-31 23:59:59.999999,2000-01-01 00:00:00.000001,infinity,-infinity,294276-12-31 23:59:59.999999,4714-11-24 BC}'::text[]) stamp;
INSERT INTO calls SELECT format('date_trunc(%L, timestamp_a)', field)
FROM unnest('{microseconds,milliseconds,second,minute,hour,day,week,month,quarter,year,decade,century,millennium,Days,mon}'::text[]) field;
INSERT INTO calls SELECT format('date_trunc(%L, timestamptz_a)', field)
FROM unnest('{microseconds,milliseconds,second,minute,hour,day,week,month,quarter,year,decade,century,millennium}'::text[]) field;
INSERT INTO calls SELECT format('extract(%s FROM timestamptz_a)', field)
FROM unnest('{microseconds,milliseconds,second,minute,hour,day,week,month,quarter,year,decade,century,millennium,dow,isodow,doy,isoyear,epoch}'::text[]) field;
INSERT INTO calls VALUES ('date_part(''hour'', timestamptz_a)'), ('date_trunc(''day'', timestamptz_a, ''Asia/Kolkata'')'),
    ('date_trunc(''second'', timestamptz_a, ''Asia/Kolkata'')'), ('timezone(''Europe/Berlin'', timestamptz_a)'), ('timezone(''UTC'', timestamp_a)'),
    ('timestamptz_a + interval ''1 day'''), ('timestamptz_a - interval ''3 days 1 hour''');
INSERT INTO calls SELECT format('extract(%s FROM timestamp_a)', field)
FROM unnest('{microseconds,milliseconds,second,minute,hour,day,week,month,quarter,year,decade,century,millennium,dow,isodow,doy,isoyear,epoch}'::text[]) field;
INSERT INTO calls SELECT format('extract(%s FROM date_a)', field)
FROM unnest('{day,week,month,quarter,year,decade,century,millennium,dow,isodow,doy,isoyear,julian,epoch}'::text[]) field;
INSERT INTO calls SELECT format('extract(%s FROM time_a)', field)
FROM unnest('{microseconds,milliseconds,second,minute,hour,epoch}'::text[]) field;
INSERT INTO calls SELECT format('date_part(%L, %s)', field, name)
FROM unnest('{microseconds,minute,hour,epoch}'::text[]) field, unnest('{time_a,timestamp_a}'::text[]) name;
INSERT INTO calls VALUES
    ('date_part(''epoch'', timestamptz_a)'),
    ('date_part(''isoyear'', timestamp_a)'), ('date_part(''doy'', date_a)');

-- As a value, behind and in a filter, and under a condition.
SELECT ok(differs = 0 AND by_row = 0 AND flagged < scanned, concat_ws(', ', expression, by_row || ' by row', flagged || ' flagged', example))
FROM calls, vector_differs('SELECT ' || expression || ' FROM vector_edges');
SELECT ok(differs = 0 AND by_row = 0, concat_ws(', ', expression, 'in a filter', by_row || ' by row', example))
FROM calls, vector_differs('SELECT int4_a, ' || expression || ' FROM vector_edges WHERE int2_a >= 0 AND ('
                           || expression || ') IS NOT NULL');
SELECT ok(differs = 0 AND by_row = 0, concat_ws(', ', expression, 'under a condition', by_row || ' by row', example))
FROM calls, vector_differs('SELECT ' || expression || ', bool_a FROM vector_edges WHERE bool_b', true);
SELECT ok(differs = 0 AND by_row = 0, concat_ws(', ', expression, 'narrow', by_row || ' by row', example))
FROM calls, vector_differs('SELECT ' || expression || ' FROM vector_edges', narrow => true)
WHERE expression LIKE '%numeric%';
SELECT is((SELECT array_agg(f::regprocedure) FROM unnest(vector_uncovered()) f), NULL,
          'every function of the table was an instruction');

-- Row by row: the same results.
SELECT ok(differs = 0 AND by_row = 1 AND flagged < scanned, concat_ws(', ', expression, by_row || ' by row', example))
FROM unnest(ARRAY[
    'numeric_a / numeric_b', 'numeric_a / numeric_b > 0.5', 'numeric_a % numeric_b', 'numeric_u = 1', 'numeric_a::numeric(5,-1)', 'tiny_a::int', 'tiny_a = 0', 'tiny_a < 1000', 'round(tiny_a, 2)',
    'upper(text_a)', 'upper(text_a) = $$ABC$$', 'text_a || text_b', 'bpchar_a::text || $$x$$',
    'jsonb_a IS NULL AND upper(text_a) <> text_b', 'timezone(text_a, timestamptz_a)', 'timestamptz_a + interval $$1 month$$',
    'extract(timezone FROM timestamptz_a)', 'extract(julian FROM timestamptz_a)', 'timestamp_a + interval $$1 month$$', 'timestamp_a - timestamp_b',
    'date_part($$second$$, timestamp_a)', 'date_trunc(text_a, timestamp_a)', 'text_a LIKE $$a_c$$', 'text_a LIKE text_b',
    'text_a COLLATE "C" < text_b COLLATE "C" AND sqrt(float8_a) > 1', 'numeric_a::float4', 'float8_a::numeric',
    'CASE WHEN bool_a THEN numeric_a ELSE 0 END', 'coalesce(numeric_a, numeric_b)', 'ctid', 'tableoid',
    'vector_edges', 'int4_a::text', 'bpchar_a LIKE $$a%$$', 'text_a::char(5) = bpchar_a',
    'int4_a = ANY ($${}$$::int[])', 'int4_a > ANY ($${1,2}$$::int[])', 'text_a ILIKE $$A%$$', 'sqrt(float8_a)',
    'CASE WHEN int4_b <> 0 THEN sqrt(float8_a) END', 'int4_b = 0 OR numeric_a / int4_b > 1',
    'coalesce(int4_a, length(text_a))', 'int2_a & int2_b']) expression,
    vector_differs('SELECT ' || expression || ' FROM vector_edges');

SELECT throws_ok('SELECT * FROM vector_differs(''SELECT random() FROM vector_edges'')', 'expression cannot be compiled');
SELECT ok(differs = 0 AND by_row = 1 AND flagged = scanned - nulls, expression)
FROM vector_differs('SELECT extract(hour FROM date_a) FROM vector_edges'),
    (SELECT count(*) AS nulls FROM vector_edges WHERE date_a IS NULL) n, (VALUES ('extract(hour FROM date)')) v(expression)
WHERE current_setting('server_version_num')::int < 170000;
SET TimeZone = 'Europe/Berlin';
SELECT ok(differs = 0 AND by_row = 0, expression)
FROM unnest(ARRAY['timestamptz_a + interval $$1 day$$', 'timestamptz_a - interval $$3 days 1 hour$$', 'timestamptz_a::timestamp',
                  'timestamp_a::timestamptz', 'date_a < timestamptz_a', 'timestamp_a = timestamptz_a',
                  'date_trunc($$minute$$, timestamptz_a)', 'extract(second FROM timestamptz_a)']) expression,
    vector_differs('SELECT ' || expression || ' FROM vector_edges');

-- Collations that do not go by bytes, where the server has such.
CREATE FUNCTION pg_temp.make_collation() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    RETURN true;
EXCEPTION WHEN feature_not_supported THEN
    RETURN false;
END $$;
SELECT pg_temp.make_collation() AS has_icu \gset
\if :has_icu
CREATE DOMAIN pg_temp.icu_word AS text COLLATE "en-x-icu";
SELECT ok(differs = 0 AND by_row = want, concat_ws(', ', expression, by_row || ' by row', example))
FROM (VALUES ('text_a = text_b COLLATE ignore_case', 1), ('text_a IN ($$a$$, $$ABC$$ COLLATE ignore_case)', 1),
             ('bpchar_a = bpchar_b COLLATE ignore_case', 1), ('text_a < text_b COLLATE "en-x-icu"', 1),
             ('greatest(text_a, text_b COLLATE "en-x-icu")', 1), ('greatest(text_a::pg_temp.icu_word, text_b::pg_temp.icu_word)', 1),
             ('text_a = text_b COLLATE "en-x-icu"', 0),
             ('nullif(text_a, text_b COLLATE ignore_case)', 1)) v(expression, want),
    vector_differs('SELECT ' || expression || ' FROM vector_edges');
\endif

-- Columns of other types are only passed on.
SELECT ok(differs = 0 AND by_row = 0 AND flagged = 0, concat_ws(', ', expression, example))
FROM unnest(ARRAY['numeric_u', 'interval_a', 'jsonb_a', 'interval_a IS NULL']) expression,
    vector_differs('SELECT ' || expression || ' FROM vector_edges');

-- What core evaluates is evaluated, and nothing else: these raise errors only in rows that are left out.
SELECT ok(differs = 0 AND flagged = 0 AND passed > 0, concat_ws(', ', query, by_row || ' by row', flagged || ' flagged', example))
FROM unnest(ARRAY[
    'SELECT 100 / int4_b FROM vector_edges WHERE int4_b > 0',
    'SELECT 1 FROM vector_edges WHERE int4_b > 0 AND 100 / int4_b > 1',
    'SELECT 1 FROM vector_edges WHERE int4_b > 0 AND sqrt(int4_b) > 1',
    'SELECT CASE WHEN int4_b > 0 THEN 100 / int4_b ELSE 0 END FROM vector_edges',
    'SELECT CASE int4_b WHEN 0 THEN 0 ELSE 100 / int4_b END FROM vector_edges',
    'SELECT int4_b = 0 OR 100 / int4_b = 1 FROM vector_edges',
    'SELECT int4_b <> 0 AND 100 / int4_b = 1 FROM vector_edges',
    'SELECT coalesce(nullif(int4_b, 0), 100 / (int4_b - int4_b + 1)) FROM vector_edges WHERE int4_b BETWEEN -5 AND 5',
    'SELECT CASE WHEN float8_a >= 0 THEN sqrt(float8_a) END FROM vector_edges',
    -- without columns: never evaluated, or once
    'SELECT coalesce(text_a, current_setting($$no.such$$)) FROM vector_edges WHERE text_a IS NOT NULL',
    'SELECT 1 FROM vector_edges WHERE int4_a > 0 AND timestamptz_a < now() - interval $$1 day$$',
    'SELECT timestamptz_a < now() - interval $$1 day$$, current_setting($$TimeZone$$) = text_a FROM vector_edges',
    'SELECT 100 / nullif(int4_b, 0) FROM vector_edges']) query, vector_differs(query);
SELECT ok(differs = 0 AND flagged = 0, concat_ws(', ', query, by_row || ' by row', flagged || ' flagged', example))
FROM unnest(ARRAY['SELECT 100 / int4_b, int4_b > 0 FROM vector_edges',
                  'SELECT sqrt(int4_b), int4_b > 0 FROM vector_edges']) query, vector_differs(query, true);

-- Values without anything unusual in them: nothing is flagged, nothing goes row by row.
CREATE TABLE lines (orderkey bigint, quantity numeric(15,2), price numeric(15,2), discount numeric(15,2),
    tax numeric(15,2), flag char(1), status char(1), shipped date, at timestamp, zone timestamptz, mode text, x float8, i int);
INSERT INTO lines
SELECT i, i % 50 + 1, 900 + i * 1.01, i % 11 * 0.01, i % 9 * 0.01, substr('ANR', i % 3 + 1, 1), substr('FO', i % 2 + 1, 1),
       date '1992-01-01' + i, timestamp '1992-01-01' + i * interval '7 hours 13.5 seconds', timestamptz '1992-01-01 00:00+00' + i * interval '1 day',
       (ARRAY['MAIL', 'SHIP', 'AIR', 'PROMO AIR'])[i % 4 + 1], i / 7.0, i
FROM generate_series(1, 3000) i;
SELECT ok(differs = 0 AND flagged = 0 AND by_row = 0 AND passed > 0, concat_ws(', ', query, by_row || ' by row', flagged || ' flagged', example))
FROM unnest(ARRAY[
    'SELECT flag, status, quantity, price, price * (1 - discount), price * (1 - discount) * (1 + tax), discount
     FROM lines WHERE shipped <= date $$1998-12-01$$ - interval $$90 day$$',
    'SELECT price * discount FROM lines WHERE shipped >= date $$1994-01-01$$ AND
     shipped < date $$1994-01-01$$ + interval $$1 year$$ AND discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND quantity < 24',
    'SELECT price FROM lines WHERE mode IN ($$MAIL$$, $$SHIP$$) AND quantity > 5',
    'SELECT CASE WHEN mode LIKE $$PROMO%$$ THEN price * (1 - discount) ELSE 0.0000 END FROM lines',
    'SELECT CASE WHEN mode = $$MAIL$$ OR mode = $$SHIP$$ THEN 1 ELSE 0 END FROM lines',
    'SELECT x * (1 - x), i * (1 - i), date_trunc($$day$$, at), date_trunc($$month$$, at), mode FROM lines',
    'SELECT extract(year FROM shipped), extract(dow FROM at), date_bin($$15 minutes$$, at, $$2000-01-01$$) FROM lines',
    'SELECT i FROM lines WHERE zone > timestamptz $$1993-01-01 00:00+00$$ AND zone < now()']) query, vector_differs(query);

SELECT * FROM finish();
ROLLBACK;
