package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// coupon is a coupon that a customer holds.
type coupon struct {
	customer, number int
}

func (c coupon) code() string { return fmt.Sprintf("SPRING-%s-%d", run, c.number) }

// couponRedeem redeems a coupon that no other request redeems.
func couponRedeem(b *bytes.Buffer, p picker) {
	c := p.coupons[p.number]
	fmt.Fprintf(b, `{"customer":"%d","action":"coupon_redeem","data":{"code":"%s","transaction_id":"%s-c%d"}}`,
		c.customer, c.code(), run, c.number)
}

// couponsMade numbers the coupons of this run, so that no two have the same code.
var couponsMade atomic.Int64

// makeCoupons gives customers coupons, in bulk: one for each request of a workload that redeems them.
func (s *server) makeCoupons(ctx context.Context, w workload, requests int) error {
	missing := requests - len(s.coupons)
	if w.action != "coupon_redeem" || missing <= 0 {
		return nil
	}

	const batch = 50
	bulks := (missing + batch - 1) / batch
	made := make([]coupon, bulks*batch)
	for i := range made {
		made[i] = coupon{1 + rand.IntN(s.customers), int(couponsMade.Add(1))}
	}

	var next atomic.Int64
	create := func(b *bytes.Buffer, _ picker) {
		c := made[next.Add(1)-1]
		fmt.Fprintf(b, `{"customer":"%d","action":"coupon_create","data":{"code":"%s","type":"percentage","value":10,"name":"Ten percent off","currency":"EUR"}}`, c.customer, c.code())
	}

	if err := s.submit(ctx, workload{name: "making coupons", body: bulkOf(batch, create)}, bulks); err != nil {
		return err
	}

	s.coupons = append(s.coupons, made...)
	return s.vacuum(ctx)
}
