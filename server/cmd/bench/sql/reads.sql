-- A programme after a year, around the customers who are there: $events events, of which a twentieth of the customers, the
-- regulars, have half; the purchases and lots that belong to them, two coupons a customer, and the board. The figures
-- agree with the lots; postings are left out, because nothing that is measured reads them.
CREATE TABLE people AS SELECT name::bigint AS n, id FROM customers; -- the names are numbers
CREATE UNIQUE INDEX ON people (n);
ANALYZE people;

CREATE FUNCTION bench_id(at bigint, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
$f$ SELECT (lpad(to_hex(at), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid $f$;

SELECT loyalty_journal_month(to_char(month, 'YYYY_MM'), (extract(epoch FROM month) * 1000)::bigint, (extract(epoch FROM month + interval '1 month') * 1000)::bigint)
FROM generate_series(date_trunc('month', now() AT TIME ZONE 'UTC') - interval '12 months', date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month', interval '1 month') month;

-- What happened, evenly over 360 days, but for the last hundredth: that came after everybody had opted in, so that the
-- first page of the journal is like any other.
CREATE TABLE happened AS
SELECT i, p.id AS customer, at, bench_id(at, i) AS id, i % 10 AS kind, CASE WHEN i % 10 < 7 THEN 10 + (hashint8(i) & 511) END AS points
FROM (SELECT i, CASE WHEN i * 100 > $events * 99::bigint THEN now - ((now - seeded - 1) * ($events - i) * 100.0 / $events)::bigint
			ELSE now - (($events - i) * (360 * 86400000::numeric / $events))::bigint END AS at,
		CASE WHEN i % 2 = 0 THEN 1 + (hashint8(i * 7) & 2147483647) % greatest($customers / 20, 1) ELSE 1 + (hashint8(i * 7) & 2147483647) % $customers END AS n
	FROM generate_series(1, $events::bigint) i,
		(SELECT (extract(epoch FROM now()) * 1000)::bigint AS now, max(recorded_at) AS seeded FROM events) t) s
JOIN people p USING (n) ORDER BY i;

INSERT INTO events (customer_id, id, recorded_at, at, points, action, transaction_id, data)
SELECT customer, id, at, at, points,
	CASE WHEN kind < 4 THEN 'checkout' WHEN kind < 7 THEN 'point_add' WHEN kind < 9 THEN 'visit' ELSE 'coupon_redeem' END,
	CASE WHEN kind < 4 THEN 'P-' || i END,
	CASE WHEN kind < 4 THEN '{"transaction_id":"P-' || i || '","total":129.9,"currency":"EUR","channel":"web"}'
		WHEN kind < 7 THEN '{"points":' || points || ',"reason":"Spring campaign"}'
		WHEN kind < 9 THEN '{"url":"https://shop.test/p/' || i % 5000 || '"}'
		ELSE '{"code":"SPRING-' || i || '","transaction_id":"P-' || i - 9 || '"}' END
FROM happened ORDER BY i;

INSERT INTO lots (customer_id, id, points, remaining, reserved, spent, expired, earned_at, expires_at, idle_months, idle_days, open, transaction_id)
SELECT customer, id, points, CASE WHEN i % 4 = 0 THEN points ELSE 0 END, 0, CASE WHEN i % 4 = 0 THEN 0 ELSE points END, 0, at, at + 730 * 86400000::bigint, 0, 0, i % 4 = 0,
	CASE WHEN kind < 4 THEN 'P-' || i END
FROM happened WHERE points IS NOT NULL ORDER BY i;

INSERT INTO transactions (customer_id, transaction_id, state, checkout, created_at, updated_at, checkout_date, auto_reject, total, original_total, refunded,
	original_earned, earned, original_burned, burned)
SELECT customer, 'P-' || i, 'accepted', id, at, at, at, false, 1299000, 1299000, 0, points, points, 0, 0 FROM happened WHERE kind < 4 ORDER BY i;
INSERT INTO names (kind, value, owner) SELECT 2, transaction_id, customer_id FROM transactions;

UPDATE balances b SET score = b.score + l.points, spent = b.spent + l.spent, version = b.version + l.n
FROM (SELECT customer_id, sum(points)::bigint AS points, sum(spent)::bigint AS spent, count(*) AS n FROM lots GROUP BY 1) l WHERE b.customer_id = l.customer_id;
UPDATE balances b SET last_event = h.id, last_activity_at = h.at
FROM (SELECT DISTINCT ON (customer) customer, id, at FROM happened ORDER BY customer, i DESC) h WHERE b.customer_id = h.customer;

-- Two coupons a customer: one in a pool that nobody holds yet, one held, half of these by the regulars; of the held ones
-- a third is redeemed.
INSERT INTO coupons (id, code, state, customer_id, type, value, balance, currency, name, pool, cost, created_at, claimed_at, redeemed_at, expires_at, version)
SELECT bench_id(at, i), 'SPRING-' || i, CASE WHEN i % 2 = 0 THEN 'created' WHEN i % 3 = 0 THEN 'redeemed' ELSE 'claimed' END, CASE WHEN i % 2 = 1 THEN p.id END,
	'percentage', 100000, 0, 'EUR', '{"en":"Ten percent off"}', CASE WHEN i % 2 = 0 THEN 'spring' END, 0, at, CASE WHEN i % 2 = 1 THEN at END,
	CASE WHEN i % 2 = 1 AND i % 3 = 0 THEN at + 1000 END, at + 800 * 86400000::bigint, 1
FROM (SELECT i, (extract(epoch FROM now()) * 1000)::bigint - (2 * $customers - i) * 60000 AS at,
		1 + (hashint8(i) & 2147483647) % CASE WHEN i % 4 = 1 THEN greatest($customers / 20, 1) ELSE $customers END AS n
	FROM generate_series(1, 2 * $customers::bigint) i) s
JOIN people p USING (n) ORDER BY i;
INSERT INTO names (kind, value, owner) SELECT 3, code, id FROM coupons;

-- The board of all time, as the program counts it; see stretchOf in the store.
DELETE FROM rankings;
DELETE FROM ranking_counts;
INSERT INTO rankings (customer_id, kind, start, score, shown) SELECT customer_id, 0, 0, score, true FROM balances;
INSERT INTO ranking_counts (kind, start, stretch, customers)
SELECT 0, 0, e * 128 + (score >> e), count(*)
FROM (SELECT score, CASE WHEN score < 256 THEN 0 ELSE floor(log(2.0, score::numeric))::int - 7 END AS e FROM rankings) s GROUP BY 3;
INSERT INTO numbered (customer_id, through) SELECT customer_id, last_event FROM balances WHERE last_event IS NOT NULL
ON CONFLICT (customer_id) DO UPDATE SET through = excluded.through;
UPDATE tail_state SET present = true, looked_at = (extract(epoch FROM now()) * 1000)::bigint, compared_at = (extract(epoch FROM now()) * 1000)::bigint;

DROP TABLE happened, people;
DROP FUNCTION bench_id(bigint, bigint);
