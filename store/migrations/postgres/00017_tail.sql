-- +goose Up

-- The tail: committed events by numbers that were given after their commit, without a gap. Who follows it misses none: see
-- store/tail.go. The instant leads to the month of the journal that has the event.
CREATE TABLE tail (
    number      bigint PRIMARY KEY,
    customer_id uuid NOT NULL,
    event_id    uuid NOT NULL,
    recorded_at bigint NOT NULL
);

-- Up to which event a customer is in the tail.
CREATE TABLE numbered (
    customer_id uuid PRIMARY KEY,
    through     uuid NOT NULL
) WITH (fillfactor = 70);

-- One row. Whoever gives numbers has it locked.
CREATE TABLE tail_state (
    id          smallint PRIMARY KEY CHECK (id = 1),
    head        bigint NOT NULL,  -- the last number; 0: none
    present     boolean NOT NULL, -- whether all that was recorded before there was a tail has its number
    looked_at   bigint,           -- what was recorded before then was looked for, but for what commits late
    compared_at bigint            -- when every customer was last compared with the journal
) WITH (fillfactor = 50);
INSERT INTO tail_state (id, head, present) SELECT 1, 0, NOT EXISTS (SELECT 1 FROM events);

-- Who follows the tail, and up to which number they did their work.
CREATE TABLE followers (
    name     text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL
) WITH (fillfactor = 50);

-- The leaderboard follows it from its beginning: what it counted by customers is counted again.
DROP TABLE leaderboard, counted;
TRUNCATE rankings, ranking_counts;
CREATE TABLE leaderboard (
    id         smallint PRIMARY KEY CHECK (id = 1),
    zone       text COLLATE "C" NOT NULL,
    version    bigint NOT NULL, -- of the programme whose zone it is
    generation bigint NOT NULL, -- grows when the boards of days are counted anew
    built      bigint NOT NULL, -- the last generation that is complete; 0: none is
    dated      bigint NOT NULL  -- up to which number the boards of days count; -1: those of the last generation are still there
);

-- +goose Down
DROP TABLE followers, tail_state, numbered, tail, leaderboard;
TRUNCATE rankings, ranking_counts;
CREATE TABLE counted (
    customer_id uuid PRIMARY KEY,
    generation  bigint NOT NULL,
    through     uuid NOT NULL
) WITH (fillfactor = 70);
CREATE TABLE leaderboard (
    id          smallint PRIMARY KEY CHECK (id = 1),
    zone        text COLLATE "C" NOT NULL,
    version     bigint NOT NULL,
    generation  bigint NOT NULL,
    built       bigint NOT NULL,
    begun_at    bigint NOT NULL,
    compared_at bigint
);
