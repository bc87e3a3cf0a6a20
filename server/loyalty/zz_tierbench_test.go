package loyalty_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

func TestZZTierCost(t *testing.T) {
	eachShop(t, modules{}, func(t *testing.T, s *shop) {
		plain := s.Programme()
		with := climbing(t, "UTC", "", "")
		run := func(p *loyalty.Programme, name string) {
			s.programme.Store(p)
			s.must(name, "opt_in", fmt.Sprintf(`{"email":"%s@shop.test"}`, name))
			begin := time.Now()
			for k := range 20 {
				var subs []loyalty.Submission
				for i := range 100 {
					subs = append(subs, event(name, "point_add", fmt.Sprintf(`{"points":%d}`, 1+(i+k)%3)))
				}
				s.SubmitAll(context.Background(), subs)
				s.wait(24 * time.Hour)
			}
			t.Log(name, time.Since(begin)/2000)
		}
		run(plain, "a")
		run(with, "b")
		run(plain, "c")
		run(with, "d")
	})
}
