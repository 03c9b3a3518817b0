-- tour.sql: the data of doc/tour.md, the same at each run.
--
--   psql -v scale=50 -f doc/tour.sql     fifty times as many meters and accounts
--
-- meter_reading   a year of daily readings of 600 meters: a few large consumers, days without a reading,
--                 readings that came late, and false ones with a correction that takes them back
-- movement        a month of 200,000 movements of 2,000 accounts: a few very busy ones, movements that
--                 were booked late, and reversals
\if :{?scale}
\else
\set scale 1
\endif
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS gpuagg;
DROP TABLE IF EXISTS meter_reading, movement;

-- A number from 0 to 1, by the numbers of a row and of a draw.
CREATE FUNCTION pg_temp.draw(i bigint, n integer) RETURNS double precision LANGUAGE sql IMMUTABLE
RETURN (hashint8extended(i, n) & 2147483647) / 2147483648.0::double precision;

CREATE TABLE meter_reading (
    meter integer NOT NULL,
    day date NOT NULL,
    received date NOT NULL,
    tariff text NOT NULL,
    kwh double precision NOT NULL,
    cost numeric(12,2) NOT NULL
);

-- One meter in 20 uses a hundred times what the others do; one reading in 100 is missing, one in 30
-- comes late, and of one in 1,000 the meter has sent a false one before, which is taken back.
CREATE TEMPORARY TABLE daily AS
SELECT meter, date '2025-01-01' + n AS day,
       CASE WHEN meter % 20 = 0 THEN 'works' WHEN meter % 3 = 0 THEN 'shop' ELSE 'home' END AS tariff,
       pg_temp.draw(meter * 1000 + n, 1) * CASE WHEN meter % 20 = 0 THEN 1000 ELSE 10 END AS kwh,
       pg_temp.draw(meter * 1000 + n, 2) AS luck
FROM generate_series(1, 600 * :scale) AS meter, generate_series(0, 364) AS n;

INSERT INTO meter_reading
SELECT meter, day, received, tariff, sent, round((sent * 0.3)::numeric, 2)
FROM (
    SELECT meter, day, tariff, kwh AS sent, luck,
           day + CASE WHEN luck > 0.97 THEN 1 + (luck * 10000)::integer % 40 ELSE 1 END AS received
    FROM daily WHERE luck >= 0.01
    UNION ALL
    SELECT meter, day, tariff, 99999999 + kwh, luck, day + 1 FROM daily WHERE luck BETWEEN 0.5 AND 0.501
    UNION ALL
    SELECT meter, day, tariff, -(99999999 + kwh), luck, day + 3 FROM daily WHERE luck BETWEEN 0.5 AND 0.501
) AS r
ORDER BY received, meter, day, sent;

CREATE TABLE movement (
    id bigint NOT NULL,
    account integer NOT NULL,
    at timestamp NOT NULL,
    booked timestamp NOT NULL,
    kind text NOT NULL,
    amount numeric(12,2) NOT NULL
);

-- An account begins with 1,000. Half of all movements are those of every 50th account, which are
-- incomes as often as payments. One movement in 40 is booked hours late, one in 200 is a payment
-- that is reversed on the next day.
CREATE TEMPORARY TABLE moved AS
SELECT i,
       CASE WHEN i <= 2000 * :scale THEN i
            WHEN i % 2 = 0 THEN 50 * (1 + (pg_temp.draw(i, 3) * 40 * :scale)::integer % (40 * :scale))
            ELSE 1 + (pg_temp.draw(i, 3) * 2000 * :scale)::integer % (2000 * :scale) END AS account,
       timestamp '2026-01-01' + CASE WHEN i <= 2000 * :scale THEN interval '0'
                                     ELSE (i - 2000 * :scale) * interval '13 seconds' / :scale END AS at,
       pg_temp.draw(i, 4) AS luck,
       pg_temp.draw(i, 5) AS part
FROM generate_series(1, 199000 * :scale) AS i;

INSERT INTO movement
SELECT row_number() OVER (ORDER BY booked, i, at), account, at, booked, kind, amount
FROM (
    SELECT i, account, at, at + CASE WHEN luck > 0.975 THEN luck * interval '9 hours' ELSE interval '0' END AS booked,
           CASE WHEN i <= 2000 * :scale THEN 'opening' WHEN luck < 0.52 THEN 'income' ELSE 'payment' END AS kind,
           CASE WHEN i <= 2000 * :scale THEN 1000
                WHEN luck < 0.52 THEN round((part * 40)::numeric, 2) ELSE -round((part * 42)::numeric, 2) END AS amount
    FROM moved
    UNION ALL
    SELECT i, account, at + interval '1 day', at + interval '1 day', 'reversal', round((part * 42)::numeric, 2)
    FROM moved WHERE luck BETWEEN 0.6 AND 0.605 AND i > 2000 * :scale
) AS m
ORDER BY booked, i, at;

DROP TABLE daily, moved;
VACUUM (FREEZE, ANALYZE) meter_reading, movement;
