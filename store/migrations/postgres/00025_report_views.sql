-- +goose Up

-- For programs that report and load warehouses: names and columns that stay, nothing personal, times with their zone. A role that
-- may read these three reads nothing else.
CREATE VIEW export_events AS
SELECT t.number AS sequence, e.id AS event_id, e.customer_id, to_timestamp(e.recorded_at / 1000.0) AS recorded_at, to_timestamp(e.at / 1000.0) AS at,
    e.action, e.points, e.parent AS parent_id, e.transaction_id, to_timestamp(e.exp_date / 1000.0) AS expires_at, e.data::jsonb AS data
FROM tail t JOIN events e ON e.customer_id = t.customer_id AND e.id = t.event_id AND e.recorded_at = t.recorded_at;

CREATE VIEW export_postings AS
SELECT p.customer_id, p.event_id, p.seq,
    (ARRAY['issued', 'available', 'reserved', 'spent', 'expired', 'debt', 'promised', 'pending'])[p.from_account] AS from_account,
    (ARRAY['issued', 'available', 'reserved', 'spent', 'expired', 'debt', 'promised', 'pending'])[p.to_account] AS to_account,
    p.points, p.lot_id
FROM postings p;

CREATE VIEW export_customers AS
SELECT c.id AS customer_id, c.status, to_timestamp(c.created_at / 1000.0) AS created_at, to_timestamp(c.updated_at / 1000.0) AS updated_at, c.merged_into,
    c.referrer AS referrer_id, b.version, b.score, b.score - b.spent - b.reserved - b.expired AS spendable, b.spent, b.reserved, b.expired, b.pending, b.debt,
    to_timestamp(b.last_activity_at / 1000.0) AS last_activity_at
FROM customers c JOIN balances b ON b.customer_id = c.id;

-- +goose Down
DROP VIEW export_customers, export_postings, export_events;
