package action

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// opt_out makes the customer unidentifiable for good. The personal attributes of events lose their key, and the profile
// becomes hashes whose salt is thrown away. The same happens to every account that was merged into this one. Purchases
// and points stay.
var optOut = engine.Action[events.OptOutData]{
	Name: "opt_out",
	Needs: func(_ events.OptOutData, n *loyalty.CustomerNeeds) {
		n.Everything, n.Key, n.Lots = true, true, loyalty.UsedLots // including customers merged into this one
	},
	Apply: func(r *engine.Run, _ events.OptOutData) error {
		if err := r.Move("opt_out"); err != nil {
			return err
		}

		sources, err := engine.Sources(r)
		if err != nil {
			return err
		}

		// one salt for all hashes, which is not kept: equal hashes show that two fields were equal, and guesses cannot
		// be checked
		salt := make([]byte, sha256.Size)
		if _, err := rand.Read(salt); err != nil {
			return err
		}

		// merged accounts keep their rows and their keys, which would reveal the customer
		for _, one := range append(sources, r) {
			forget(one, salt)
			one.DestroyKey()
		}

		return nil
	},
}

// forget replaces everything that names the customer.
func forget(r *engine.Run, salt []byte) {
	c := r.Customer
	c.UpdatedAt = r.Now
	// the identifiers are free for a new customer, who counts as another person
	r.Free(loyalty.Name{Kind: loyalty.NameCustomer, Value: c.Name})
	for _, id := range c.Profile.ExternalIDs.Names() {
		r.Free(id)
	}

	// the row needs a unique name; without the salt this one cannot be found
	c.Name = hashed(salt, c.Name)
	r.Claim(loyalty.Name{Kind: loyalty.NameCustomer, Value: c.Name})
	p := &c.Profile
	for _, field := range loyalty.ProfileTexts {
		switch text := field.Of(p); {
		case field.Shared:
			*text = ""
		case *text != "":
			*text = hashed(salt, *text)
		}
	}

	labels := make([]string, len(p.Labels))
	for i, label := range p.Labels {
		labels[i] = hashed(salt, label)
	}

	// attributes of the programme's own are dropped, because they may say anything
	p.Labels, p.ExternalIDs, p.Custom = labels, nil, nil
}

// hashed returns a text that cannot be read back. The salt is clipped, so that appending never writes into it.
func hashed(salt []byte, text string) string {
	sum := sha256.Sum256(append(salt[:len(salt):len(salt)], text...))
	return hex.EncodeToString(sum[:])
}
