-- +goose Up

-- Before this step the program writes the names of coupon codes anew, in the form in which they are looked for: see loyalty.CodeName.
-- The databases lower letters differently, so that no statement of theirs would do.
SELECT 1;

-- +goose Down
SELECT 1;
