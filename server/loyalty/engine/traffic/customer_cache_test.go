package traffic

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// remembered puts customers; the first one is 0.
func (k *customerCache) remembered(from, to int) {
	for i := from; i < to; i++ {
		name := fmt.Sprint(i)
		k.put(name, &cachedCustomer{customer: loyalty.Customer{ID: loyalty.ID{byte(i)}, Name: name, Status: loyalty.Active}})
	}
}

func (k *customerCache) asked(names ...string) *loyalty.Loaded {
	n := loyalty.Needs{Now: time.Now()}
	for _, name := range names {
		n.Customers = append(n.Customers, loyalty.CustomerNeeds{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: name}})
	}
	return k.find(&n)
}

// TestKeptAreBounded: the customer used last stays, and none is counted twice.
func TestKeptAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := customerCache{most: 10 * (customerBytes + 1)}
		k.remembered(0, 10)
		k.remembered(0, 10)
		assert.Len(t, k.known, 10)
		assert.NotNil(t, k.asked("0", "1"))
		k.remembered(10, 12)
		assert.Nil(t, k.asked("2"))
		assert.NotNil(t, k.asked("0", "1", "9", "11"))
		assert.Nil(t, k.asked("0", "2"), "one of them is not known")
		assert.LessOrEqual(t, k.bytes, k.most)

		time.Sleep(cacheFor + time.Second)
		k.remembered(0, 1)
		assert.Len(t, k.known, 1, "a customer not used for long is forgotten")
		k.drop("0")
		assert.Zero(t, k.bytes)
	})
}

// TestKeptAreLeftAlone: where kept customers are not up to date, batches are loaded for longer
// and longer, and again as before once they are.
func TestKeptAreLeftAlone(t *testing.T) {
	k := customerCache{most: cacheBytes}
	tries := func() (n int) {
		for k.remembered(0, 1); k.asked("0") == nil; n++ {
		}
		return n
	}

	assert.Zero(t, tries())
	for _, batches := range []int{2, 4, 8} {
		k.miss(&loyalty.Needs{Customers: []loyalty.CustomerNeeds{{Ref: loyalty.Name{Value: "0"}}}})
		assert.Equal(t, batches, tries())
	}

	for range 3 * regained {
		k.note(&loyalty.Writes{}, true, nil)
	}

	k.miss(&loyalty.Needs{})
	assert.Equal(t, 2, tries())
}
