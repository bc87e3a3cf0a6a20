package engine

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// replay answers a ticket from an earlier one under the same idempotency key. nil:
// there was none, or only one that another event of a bulk may take the place of.
// Whoever repeats a request must be told of the same customer: an answer outlives merges
// and changed names.
func (b *batch) replay(t *Ticket) (*loyalty.Answer, error) {
	if t.sub.Idempotency == nil || t.preview {
		return nil, nil
	}
	answer, err := b.earlier(t.sub.Idempotency)
	if answer == nil || err != nil || answer.Customer == (loyalty.ID{}) {
		return answer, err
	}
	// The answer may be another customer's than the one who is named now: of the one
	// whom that one was merged into, or of a customer who gave an external id up.
	a, ok := b.accounts[answer.Customer]
	need := loyalty.CustomerNeeds{ID: answer.Customer, Key: true}
	if !b.asked.people[personOf(&need)] && (!ok || !a.covers(&need)) {
		return nil, &NeedMoreError{needs: need}
	}
	if !ok || a.customer.Key == nil {
		return nil, loyalty.ErrCustomerNotFound.At("customer") // forgotten since
	}
	return answer, openAnswer(answer, a.customer.Key)
}

// earlier finds the stored answer of a request. It fails with ErrKeyReused where
// the key was used for another one. In a bulk each event has an answer of its own at
// its place, and one that was refused may be sent corrected.
func (b *batch) earlier(i *loyalty.Idempotency) (*loyalty.Answer, error) {
	if i.Place > 0 {
		if whole, ok := b.answers[i.WholeKey()]; ok && whole.Hash != i.Whole {
			return nil, loyalty.ErrKeyReused
		}
	}
	answer, ok := b.answers[i.AnswerKey]
	switch {
	case !ok, answer.Hash != i.Hash && i.Place > 0 && refusedAnswer(&answer):
		return nil, nil
	case answer.Hash != i.Hash:
		return nil, loyalty.ErrKeyReused
	}
	return &answer, nil
}

// refusedAnswer says whether nothing was done when the answer was given.
// A bulk may be sent again with the faulty events corrected and the others as they were.
func refusedAnswer(a *loyalty.Answer) bool { return a.Status >= 400 }

// boundTo names a part of an answer when it is sealed. The body of a request that is
// no event of a bulk has its key for a name, as it had before there were parts.
func boundTo(a *loyalty.Answer, part string) []byte {
	if a.Place > 0 {
		part = strconv.Itoa(a.Place) + part
	}
	if part == "" {
		return []byte(a.Key)
	}
	return []byte(a.Key + "\x00" + part)
}

// sealAnswer puts an answer under its customer's key.
func sealAnswer(a *loyalty.Answer, c *loyalty.Customer) (err error) {
	a.Customer = c.ID
	if a.Body, err = loyalty.Seal(c.Key, boundTo(a, ""), a.Body); err != nil || len(a.Block) == 0 {
		return err
	}
	a.Block, err = loyalty.Seal(c.Key, boundTo(a, blockPart), a.Block)
	return err
}

// openAnswer is the reverse of seal.
func openAnswer(a *loyalty.Answer, key []byte) (err error) {
	if a.Body, err = loyalty.Open(key, boundTo(a, ""), a.Body); err != nil || len(a.Block) == 0 {
		return err
	}
	a.Block, err = loyalty.Open(key, boundTo(a, blockPart), a.Block)
	return err
}

const blockPart = "customer"

// remember stores the answer of an idempotent ticket with its effect, or with
// nothing where a rule refused. A refusal is kept only where the node that gave it
// had followed the configuration in force: under the one before it might have been
// another.
func (b *batch) remember(t *Ticket) {
	idem := t.sub.Idempotency
	if idem == nil || !loyalty.WorthStoring(t.result.Err) {
		return
	}
	if t.result.Err != nil {
		if !b.asked.version {
			t.result.Err = &NeedMoreError{needs: loyalty.CustomerNeeds{Version: true}}
			return
		}
		if b.loaded.Version != t.version {
			return
		}
	}
	answer := loyalty.Answer{AnswerKey: idem.AnswerKey, Hash: idem.Hash, At: b.now}
	answer.Status, answer.Body = idem.Render(t.result.Outcome, t.result.Err)
	if t.result.Err == nil && idem.Block != nil {
		answer.Block = idem.Block(t.result.Outcome)
	}
	clear := answer
	if c := &t.result.Outcome.Customer; c.Key != nil && c.Status != loyalty.OptedOut {
		if err := sealAnswer(&answer, c); err != nil {
			t.result.Err = loyalty.ErrInternal.Because(err)
			return
		}
	}
	b.keepWhole(idem)
	b.keepAnswer(clear, answer)
}

// keepWhole notes what the key of a bulk stands for, with the first of its events.
func (b *batch) keepWhole(i *loyalty.Idempotency) {
	if i.Place == 0 {
		return
	}
	whole := loyalty.Answer{AnswerKey: i.WholeKey(), Hash: i.Whole, Status: 200, At: b.now}
	if _, known := b.answers[whole.AnswerKey]; !known {
		b.keepAnswer(whole, whole)
	}
}

// keepAnswer adds an answer to those to write; the rest of the batch reads it in the
// clear.
func (b *batch) keepAnswer(clear, sealed loyalty.Answer) {
	before, known := b.answers[clear.AnswerKey]
	b.answers[clear.AnswerKey] = clear
	if own := slices.IndexFunc(b.writes.Answers, func(a loyalty.Answer) bool { return known && a.AnswerKey == clear.AnswerKey }); own >= 0 {
		b.writes.Answers[own] = sealed // of this very batch
		return
	}
	if known {
		b.writes.Replaced = append(b.writes.Replaced, before)
	}
	b.writes.Answers = append(b.writes.Answers, sealed)
}

// errItemDone is the result of a ticket whose item was done before.
var errItemDone = errors.New("the item is done already")

// mark is the end of a ticket's item.
func (t *Ticket) mark(at time.Time, err error) loyalty.BulkMark {
	m := loyalty.BulkMark{BulkKey: t.item, At: at}
	if err != nil {
		m.Error = loyalty.StoredError(err)
	}
	return m
}

// tick ends a ticket's item together with what the ticket did. Faults end it on
// their own, once it is certain that they stay.
func (b *batch) tick(t *Ticket) {
	if t.item == (loyalty.BulkKey{}) || t.preview || t.result.Err != nil && !loyalty.Final(t.result.Err) {
		return
	}
	b.loaded.Items[t.item] = false
	b.writes.Items = append(b.writes.Items, t.mark(b.rules.Now(), t.result.Err))
}
