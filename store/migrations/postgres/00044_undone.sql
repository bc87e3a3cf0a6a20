-- +goose Up

-- What undoes a purchase takes back the coupons that it brought: by the event that gave them, because a code can be given again, and
-- for good, because the use of one that was used may come back later.
ALTER TABLE coupons ADD COLUMN given uuid;
ALTER TABLE coupons ADD COLUMN voided boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE coupons DROP COLUMN voided;
ALTER TABLE coupons DROP COLUMN given;
