package job_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
	"github.com/loyalty-platform/loyalty/store"
)

// keptWitness is the store of every shop. What an engine decided on rows that it had kept and
// could commit is held against the rows as the database had them.
type keptWitness struct {
	*store.Store
	spared atomic.Int64 // batches that were committed without a load
	loads  atomic.Int64
}

func (k *keptWitness) Within(ctx context.Context, needs loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error)) error {
	if len(needs.Customers) > 0 || needs.Reading || needs.Due > 0 {
		k.loads.Add(1)
		return k.Store.Within(ctx, needs, work)
	}

	var differ error
	err := k.Store.Within(ctx, needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		w, err := work(l)
		if err == nil {
			differ = k.compare(ctx, w)
		}
		return w, err
	})
	if err == nil {
		k.spared.Add(1)
		if differ != nil {
			panic(differ) // the engine makes an error of it, which the test sees
		}
	}

	return err
}

// compare holds what the writes say the rows were against the rows.
func (k *keptWitness) compare(ctx context.Context, w *loyalty.Writes) (differ error) {
	needs := loyalty.Needs{Reading: true}
	for i := range w.Customers {
		needs.Customers = append(needs.Customers, loyalty.CustomerNeeds{ID: w.Customers[i].Before.ID, Key: true, Lots: loyalty.HeldLots, Progress: ^loyalty.ProgressKinds(0)})
	}

	if len(needs.Customers) == 0 {
		return nil
	}

	err := k.Store.Within(ctx, needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		for i := range w.Customers {
			before := &w.Customers[i].Before
			stored := l.Customers[before.ID]
			if stored == nil {
				differ = fmt.Errorf("%s is kept and not stored", before.Name)
				break
			}

			row := stored.Customer
			if before.Key == nil { // it was not asked for
				row.Key = nil
			}
			if kept, there := customerText(before), customerText(&row); kept != there {
				differ = fmt.Errorf("kept:\n%s\nstored:\n%s", kept, there)
			}
			if before.Figures.Reserved == 0 && len(stored.Lots) > 0 {
				differ = fmt.Errorf("%s has lots that are held", before.Name)
			}
		}

		for i := range w.Progress {
			before := &w.Progress[i].Before
			if row, ok := l.Customers[before.Customer].Progress[before.ProgressKey]; !ok || string(row.Data) != string(before.Data) || !row.DueAt.Equal(before.DueAt) {
				differ = fmt.Errorf("progress kept:\n%+v\nstored:\n%+v", before, row)
			}
		}

		return &loyalty.Writes{}, nil
	})
	if err != nil {
		return err
	}

	return differ
}

// customerText is a customer as text: what is absent and what is empty are one.
func customerText(c *loyalty.Customer) string {
	p := c.Profile
	at := func(at time.Time) int64 { return at.UnixMilli() }
	custom := map[string]string{}
	for name, value := range p.Custom {
		custom[name] = string(value)
	}
	labels, external := append([]string{}, p.Labels...), p.ExternalIDs.Names()
	p.Custom, p.Labels, p.ExternalIDs = nil, nil, nil
	return fmt.Sprintf("%x %q %s %d %d %x %+v %v %v %v %x %+v %d %x %d %d %x %x", c.ID, c.Name, c.Status, at(c.CreatedAt), at(c.UpdatedAt), c.MergedInto,
		p, custom, labels, external, c.Key, c.Figures, c.Version, c.LastEvent, at(c.DueAt), at(c.LastActivityAt), c.Chain.Head, c.Chain.From)
}

// TestKeptCustomers: who was written a moment ago needs no load, nor does a new purchase of
// theirs. A refusal, a repeated request and whatever another node changed are loaded.
func TestKeptCustomers(t *testing.T) {
	eachShop(t, nil, func(t *testing.T, s *shop) {
		counts := func(spared, loads int64, what string) {
			t.Helper()
			require.Equal(t, []int64{spared, loads}, []int64{s.kept.spared.Swap(0), s.kept.loads.Swap(0)}, "batches without a load, and loads: "+what)
		}

		s.must("ada", "opt_in", `{"email":"ada@shop.test"}`)
		counts(0, 1, "a new customer")
		s.must("ada", "point_add", `{"points":100}`)
		s.must("ada", "checkout", `{"transaction_id":"T-1","total":10}`)
		_, err := s.once("ada", "point_add", `{"points":5}`, "k")
		require.NoError(t, err)
		counts(3, 0, "their next events")

		s.refused(loyalty.ErrTransactionExists, "ada", "checkout", `{"transaction_id":"T-1","total":10}`)
		require.Positive(t, s.kept.loads.Swap(0), "a refusal")
		again, err := s.once("ada", "point_add", `{"points":5}`, "k")
		require.NoError(t, err)
		require.NotNil(t, again.Replayed)
		require.Positive(t, s.kept.loads.Swap(0), "a repeated request")
		s.refused(loyalty.ErrNotEnoughToSpend, "ada", "point_spend", `{"points":1000}`)
		require.Positive(t, s.kept.loads.Swap(0), "what is spent is loaded")
		require.Zero(t, s.kept.spared.Swap(0))
		s.verify()
	})
}

// TestKeptCustomersOfNodes: two nodes change the same customers in turn; neither decides on
// what it kept.
func TestKeptCustomersOfNodes(t *testing.T) {
	eachShop(t, modules{"checkout_accept": `{}`}, func(t *testing.T, s *shop) {
		other := shopOver(t, s.db, s.raw, modules{"checkout_accept": `{}`})
		for _, name := range []string{"ada", "bob"} {
			s.must(name, "opt_in", `{"email":"`+name+`@shop.test"}`)
		}

		var score int64
		for i := range int64(40) {
			node := s
			if i%3 == 2 {
				node = other
			}
			score += 1 + i
			node.must("ada", "point_add", fmt.Sprintf(`{"points":%d}`, 1+i))
		}

		require.Equal(t, points.Figures{Score: score}, s.customer("ada").Figures)

		other.must("bob", "opt_out", `{}`)
		s.refused(loyalty.ErrCustomerNotFound, "bob", "point_add", `{"points":1}`)
		other.must("ada", "reserve_points", `{"transaction_id":"T","points":1}`)
		other.must("ada", "suspend", `{}`)
		s.must("ada", "checkout", `{"transaction_id":"T","total":10}`)
		require.Zero(t, s.customer("ada").Figures.Reserved, "the checkout freed what the other node had reserved")
		s.verify()
	})
}
