-- +goose Up

-- What a customer scored in one period: the boards of the leaderboard. Nothing that an event pays for: a job folds the journal
-- into it. start is the first day of the period, in days since 1970-01-01, in the zone of the leaderboard.
CREATE TABLE rankings (
    customer_id BLOB NOT NULL,
    kind        INTEGER NOT NULL,
    start       INTEGER NOT NULL,
    score       INTEGER NOT NULL,
    shown       INTEGER NOT NULL,
    PRIMARY KEY (customer_id, kind, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX rankings_order ON rankings (kind, start, shown, score, customer_id);

-- How many customers are shown with scores of one stretch: where somebody stands far down is added up from it, not counted row by
-- row. It always agrees with rankings.
CREATE TABLE ranking_counts (
    kind      INTEGER NOT NULL,
    start     INTEGER NOT NULL,
    stretch   INTEGER NOT NULL,
    customers INTEGER NOT NULL,
    PRIMARY KEY (kind, start, stretch)
) STRICT, WITHOUT ROWID;

-- Up to which event a customer is in rankings.
CREATE TABLE counted (
    customer_id BLOB PRIMARY KEY NOT NULL,
    generation  INTEGER NOT NULL,
    through     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row, once there is a leaderboard.
CREATE TABLE leaderboard (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    zone        TEXT NOT NULL,
    version     INTEGER NOT NULL, -- of the programme whose zone it is
    generation  INTEGER NOT NULL, -- grows when everything is counted anew
    built       INTEGER NOT NULL, -- the last generation that is complete; 0: none is
    begun_at    INTEGER NOT NULL, -- what was recorded before then was looked at
    compared_at INTEGER           -- when every customer was last compared with the journal
) STRICT;

-- +goose Down
DROP TABLE leaderboard;
DROP TABLE counted;
DROP TABLE ranking_counts;
DROP TABLE rankings;
