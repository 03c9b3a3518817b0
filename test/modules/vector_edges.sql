-- Columns of every type that registers hold, of values at the ends of what their types hold,
-- in all sorts of combinations.  Made where the search path leads to.
CREATE FUNCTION pg_temp.pick(list anyarray) RETURNS anyelement LANGUAGE sql VOLATILE AS
	$$ SELECT list[1 + floor(random() * array_length(list, 1))::int] $$;
SELECT setseed(0.13) \gset
CREATE DOMAIN vector_number AS numeric(8,3);
CREATE DOMAIN vector_string AS char(5) CHECK (length(VALUE) < 6);
CREATE TABLE vector_edges (
	bool_a bool, bool_b bool, int2_a int2, int2_b int2, int4_a int4, int4_b int4, int8_a int8, int8_b int8,
	oid_a oid, oid_b oid, char_a "char", char_b "char", float4_a float4, float4_b float4, float8_a float8, float8_b float8,
	numeric_a numeric(15,2), numeric_b numeric(10,4), numeric_w numeric(30,6), numeric_u numeric,
	money_a money, money_b money, date_a date, date_b date, time_a time, time_b time,
	timestamp_a timestamp, timestamp_b timestamp, timestamptz_a timestamptz, timestamptz_b timestamptz,
	text_a text, text_b text, name_a name, name_b name, bpchar_a char(5), bpchar_b char(4), varchar_a varchar(8),
	bytea_a bytea, bytea_b bytea, uuid_a uuid, uuid_b uuid, interval_a interval, jsonb_a jsonb,
	hundreds_a numeric(5,-2), tiny_a numeric(3,50), number_a vector_number, string_a vector_string);
INSERT INTO vector_edges SELECT
	pg_temp.pick(b), pg_temp.pick(b), pg_temp.pick(i2), pg_temp.pick(i2), pg_temp.pick(i4), pg_temp.pick(i4), pg_temp.pick(i8), pg_temp.pick(i8),
	pg_temp.pick(o), pg_temp.pick(o), pg_temp.pick(ch), pg_temp.pick(ch), pg_temp.pick(f4), pg_temp.pick(f4), pg_temp.pick(f8), pg_temp.pick(f8),
	pg_temp.pick(na), pg_temp.pick(nb), pg_temp.pick(nw), pg_temp.pick(nw),
	pg_temp.pick(m), pg_temp.pick(m), pg_temp.pick(d), pg_temp.pick(d), pg_temp.pick(ti), pg_temp.pick(ti),
	pg_temp.pick(ts), pg_temp.pick(ts), pg_temp.pick(tz), pg_temp.pick(tz),
	pg_temp.pick(x), pg_temp.pick(x), pg_temp.pick(x)::name, pg_temp.pick(x)::name, left(pg_temp.pick(x), 5), left(pg_temp.pick(x), 4), left(pg_temp.pick(x), 8),
	convert_to(pg_temp.pick(x), 'UTF8'), convert_to(pg_temp.pick(x), 'UTF8'), pg_temp.pick(u), pg_temp.pick(u),
	pg_temp.pick('{1 day,-3 hours,1 mon,NULL}'::interval[]), pg_temp.pick(ARRAY['1'::jsonb, '{"a":2}', 'null', NULL]),
	pg_temp.pick('{0,100,-12300,9999900,NULL}'::numeric[]), pg_temp.pick('{0,1e-50,-9.99e-48,NULL}'::numeric[]),
	pg_temp.pick('{0,0.001,-99999.999,NULL}'::numeric[]), left(pg_temp.pick(x), 5)
FROM (SELECT
	'{t,f,NULL}'::bool[] b, '{-32768,-32767,-7,-1,0,1,2,3,10,100,32767,NULL}'::int2[] i2,
	'{-2147483648,-2147483647,-46341,-100,-7,-1,0,1,2,3,5,7,46341,1000000,2147483647,NULL}'::int4[] i4,
	'{-9223372036854775808,-9223372036854775807,-3037000500,-2147483649,-12345,-3,-1,0,1,2,3,86400,9007199254740993,2147483648,9223372036854775807,NULL}'::int8[] i8,
	'{0,1,2,1259,2147483647,2147483648,4294967295,NULL}'::oid[] o, '{a,b,z,A,1,NULL}'::"char"[] ch,
	'{0,-0,1,-1,2.5,-2.5,0.5,1e10,3.4e38,-3.4e38,1e-45,-1e-40,NaN,Infinity,-Infinity,32767.5,2147483520,9.2e18,NULL}'::float4[] f4,
	'{0,-0,1,-1,2.5,-2.5,3.5,0.1,1e10,1e300,-1.7e308,5e-324,-1e-310,1e-300,NaN,Infinity,-Infinity,32767.4,2147483647.5,2147483646.7,9223372036854774784,-9223372036854775808,NULL}'::float8[] f8,
	'{0,0.01,-0.01,0.99,0.05,1,-1,123.45,1.50,-1.50,9999999999999.99,-9999999999999.99,2147483647.49,2147483647.50,32767.5,NULL}'::numeric[] na,
	'{0,0.0001,-0.0001,0.5,-0.5,1.5,2.5,-2.5,999999.9999,-999999.9999,1.5000,NULL}'::numeric[] nb,
	'{0,0.000001,-0.000001,1.5,-1.5,123456789012345678901234.123456,999999999999999999999999.999999,-999999999999999999999999.999999,9223372036854775807.5,9223372036854775806.5,NULL}'::numeric[] nw,
	'{0,0.01,-0.01,1,2.5,100,92233720368547758.07,-92233720368547758.08,NULL}'::money[] m,
	'{4714-11-24 BC,4713-01-01 BC,0001-12-31 BC,0101-06-15 BC,0001-01-01,0100-12-31,1582-10-15,1900-02-28,1969-12-31,1970-01-01,1999-12-31,2000-01-01,2000-02-29,2001-01-01,2004-12-31,2024-02-29,2026-11-22,294276-12-31,5874897-12-31,infinity,-infinity,NULL}'::date[] d,
	'{00:00,00:00:00.000001,01:02:03.456789,12:00,23:59:59.999999,24:00,NULL}'::time[] ti,
	'{4714-11-24 00:00:00 BC,4713-06-01 12:34:56.789 BC,0002-12-31 23:59:59.999999 BC,0001-01-01 BC,0001-01-01 00:00,1600-02-29 11:11:11.111111,1969-12-31 23:59:59.999999,1970-01-01,1999-12-31 23:59:59.5,2000-01-01,2000-01-03 00:00,2001-01-01 01:02:03.004005,2004-12-30 13:14:15.161718,2012-02-29,2026-11-22 22:05:01.5,294276-12-31 23:59:59.999999,infinity,-infinity,NULL}'::timestamp[] ts,
	'{4714-11-24 00:00:00+00 BC,0002-12-31 23:59:59.999999+00 BC,1600-02-29 11:11:11.111111+00,1890-01-01 00:00:00.25+00,1969-12-31 23:59:59.999999+00,1970-01-01+00,2000-01-01+00,2001-01-01 01:02:03.004005+00,2026-11-22 22:05:01.5+00,294276-12-31 23:59:59.999999+00,infinity,-infinity,NULL}'::timestamptz[] tz,
	ARRAY['', ' ', 'a', 'A', 'ab', 'abc', 'abcd', 'abc ', 'xabc', 'aXbXc', 'a%b', 'a_b', 'a\b', 'äöü', 'aä', '日本', 'zzzzzzzzzzzz', NULL] x,
	'{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,NULL}'::uuid[] u
	OFFSET 0) lists, generate_series(1, 1500);
