package loyaltytest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// Witness is the store of every shop. What an engine decided on rows that it had kept and
// could commit is held against the rows as the database had them.
type Witness struct {
	*store.Store
	Spared atomic.Int64 // batches that were committed without a load
	Loads  atomic.Int64
}

// Within holds the writes of a batch that loaded nothing against the database.
func (k *Witness) Within(
	ctx context.Context, needs loyalty.Needs, work func(*loyalty.Loaded) (*loyalty.Writes, error),
) error {
	if len(needs.Customers) > 0 || needs.Reading || needs.Due > 0 {
		k.Loads.Add(1)
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
		k.Spared.Add(1)
		if differ != nil {
			panic(differ) // the engine makes an error of it, which the test sees
		}
	}

	return err
}

// compare holds what the writes say the rows were against the rows.
func (k *Witness) compare(ctx context.Context, w *loyalty.Writes) (differ error) {
	needs := loyalty.Needs{Reading: true}
	for i := range w.Customers {
		needs.Customers = append(needs.Customers, loyalty.CustomerNeeds{ID: w.Customers[i].Before.ID,
			Key: true, Lots: loyalty.HeldLots, Progress: ^loyalty.ProgressKinds(0)})
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
			if row, ok := l.Customers[before.Customer].Progress[before.ProgressKey]; !ok ||
				string(row.Data) != string(before.Data) || !row.DueAt.Equal(before.DueAt) {
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
	return fmt.Sprintf("%x %q %s %d %d %x %+v %v %v %v %x %+v %d %x %d %d %x %x", c.ID, c.Name, c.Status,
		at(c.CreatedAt), at(c.UpdatedAt), c.MergedInto, p, custom, labels, external, c.Key, c.Figures, c.Version, c.LastEvent,
		at(c.DueAt), at(c.LastActivityAt), c.Chain.Head, c.Chain.From)
}
