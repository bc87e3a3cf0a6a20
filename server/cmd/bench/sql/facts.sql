-- One row of what must agree: events by action, what campaigns gave, then the points customers have,
-- by their figures, by their postings (accounts 2 available and 6 debt), and by their lots. Runs on both databases.
SELECT
  (SELECT count(*) FROM events WHERE action = 'point_add' AND parent IS NULL),
  (SELECT count(*) FROM events WHERE action = 'checkout'),
  (SELECT count(*) FROM events WHERE action = 'checkout_item'),
  (SELECT count(*) FROM events WHERE action = 'point_add' AND parent IS NOT NULL),
  (SELECT CAST(coalesce(sum(score - spent - reserved - expired), 0) AS bigint) FROM balances),
  (SELECT CAST(coalesce(sum((CASE WHEN to_account IN (2, 6) THEN points ELSE 0 END) - (CASE WHEN from_account IN (2, 6) THEN points ELSE 0 END)), 0) AS bigint) FROM postings),
  (SELECT CAST(coalesce(sum(remaining), 0) AS bigint) FROM lots) - (SELECT CAST(coalesce(sum(debt), 0) AS bigint) FROM balances)
