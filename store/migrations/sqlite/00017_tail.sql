-- +goose Up

-- The tail: committed events by numbers that were given after their commit, without a gap. Who follows it misses none: see
-- store/tail.go. The instant leads to the month of the journal that has the event.
CREATE TABLE tail (
    number      INTEGER PRIMARY KEY,
    customer_id BLOB NOT NULL,
    event_id    BLOB NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT;

-- Up to which event a customer is in the tail.
CREATE TABLE numbered (
    customer_id BLOB PRIMARY KEY NOT NULL,
    through     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row. Whoever gives numbers is the one writer.
CREATE TABLE tail_state (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    head        INTEGER NOT NULL, -- the last number; 0: none
    present     INTEGER NOT NULL, -- whether all that was recorded before there was a tail has its number
    looked_at   INTEGER,          -- what was recorded before then was looked for, but for what commits late
    compared_at INTEGER           -- when every customer was last compared with the journal
) STRICT;
INSERT INTO tail_state (id, head, present) SELECT 1, 0, NOT EXISTS (SELECT 1 FROM events);

-- Who follows the tail, and up to which number they did their work.
CREATE TABLE followers (
    name     TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The leaderboard follows it from its beginning: what it counted by customers is counted again.
DROP TABLE leaderboard;
DROP TABLE counted;
DELETE FROM rankings;
DELETE FROM ranking_counts;
CREATE TABLE leaderboard (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    zone       TEXT NOT NULL,
    version    INTEGER NOT NULL, -- of the programme whose zone it is
    generation INTEGER NOT NULL, -- grows when the boards of days are counted anew
    built      INTEGER NOT NULL, -- the last generation that is complete; 0: none is
    dated      INTEGER NOT NULL  -- up to which number the boards of days count; -1: those of the last generation are still there
) STRICT;

-- +goose Down
DROP TABLE followers;
DROP TABLE tail_state;
DROP TABLE numbered;
DROP TABLE tail;
DROP TABLE leaderboard;
DELETE FROM rankings;
DELETE FROM ranking_counts;
CREATE TABLE counted (
    customer_id BLOB PRIMARY KEY NOT NULL,
    generation  INTEGER NOT NULL,
    through     BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE leaderboard (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    zone        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    generation  INTEGER NOT NULL,
    built       INTEGER NOT NULL,
    begun_at    INTEGER NOT NULL,
    compared_at INTEGER
) STRICT;
