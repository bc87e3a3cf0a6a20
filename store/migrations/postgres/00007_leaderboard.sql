-- +goose Up

-- What a customer scored in one period: the boards of the leaderboard. Nothing that an event pays for: a job folds the journal
-- into it. start is the first day of the period, in days since 1970-01-01, in the zone of the leaderboard.
CREATE TABLE rankings (
    customer_id uuid NOT NULL,
    kind        smallint NOT NULL,
    start       integer NOT NULL,
    score       bigint NOT NULL,
    shown       boolean NOT NULL,
    PRIMARY KEY (customer_id, kind, start)
);
CREATE INDEX rankings_order ON rankings (kind, start, shown, score, customer_id);

-- How many customers are shown with scores of one stretch: where somebody stands far down is added up from it, not counted row by
-- row. It always agrees with rankings.
CREATE TABLE ranking_counts (
    kind      smallint NOT NULL,
    start     integer NOT NULL,
    stretch   integer NOT NULL,
    customers bigint NOT NULL,
    PRIMARY KEY (kind, start, stretch)
) WITH (fillfactor = 50);

-- Up to which event a customer is in rankings.
CREATE TABLE counted (
    customer_id uuid PRIMARY KEY,
    generation  bigint NOT NULL,
    through     uuid NOT NULL
) WITH (fillfactor = 70);

-- One row, once there is a leaderboard.
CREATE TABLE leaderboard (
    id          smallint PRIMARY KEY CHECK (id = 1),
    zone        text COLLATE "C" NOT NULL,
    version     bigint NOT NULL, -- of the programme whose zone it is
    generation  bigint NOT NULL, -- grows when everything is counted anew
    built       bigint NOT NULL, -- the last generation that is complete; 0: none is
    begun_at    bigint NOT NULL, -- what was recorded before then was looked at
    compared_at bigint           -- when every customer was last compared with the journal
);

-- +goose Down
DROP TABLE leaderboard, counted, ranking_counts, rankings;
