-- +goose Up

-- While the boards of days are counted anew, those of before are shown: there are two sets of them. side is the whole one, whole_zone
-- and whole are its zone and the number of the tail up to which it counts while the other set is counted. rankings and
-- ranking_counts keep a board of side 1 under its kind plus 8. Boards that are being counted anew at this moment belong to no side,
-- so they count as never built until they are.
ALTER TABLE leaderboard ADD COLUMN side smallint NOT NULL DEFAULT 0;
ALTER TABLE leaderboard ADD COLUMN whole_zone text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE leaderboard ADD COLUMN whole bigint NOT NULL DEFAULT 0;
UPDATE leaderboard SET side = 1, built = 0 WHERE built <> generation;

-- +goose Down
DELETE FROM rankings WHERE kind >= 8;
DELETE FROM ranking_counts WHERE kind >= 8;
UPDATE leaderboard SET generation = generation + 1, dated = -1;
ALTER TABLE leaderboard DROP COLUMN whole;
ALTER TABLE leaderboard DROP COLUMN whole_zone;
ALTER TABLE leaderboard DROP COLUMN side;
