package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// replay answers a ticket with the stored answer of an earlier request under the same idempotency key. It returns nil
// if there was none, or only one that another event of a bulk may replace. A repeated request gets the customer of the
// first one, because an answer outlives merges and changed names.
func (b *batch) replay(t *Ticket) (*loyalty.Answer, error) {
	if t.sub.Idempotency == nil || t.preview {
		return nil, nil
	}

	answer, err := b.earlier(t.sub.Idempotency)
	if answer == nil || err != nil || answer.Customer == (loyalty.ID{}) {
		return answer, err
	}

	// The answer may be about another customer than the name leads to now: the customer may have been merged, or may
	// have given up an external id.
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

// earlier finds the stored answer of a request. It fails with ErrKeyReused if the key was used for
// another request. In a bulk each event has its own answer, by its place, and a refused event may
// be sent again corrected.
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

// refusedAnswer reports whether the request was refused, so that nothing was recorded. A bulk may be sent again with
// the faulty events corrected and the others unchanged.
func refusedAnswer(a *loyalty.Answer) bool { return a.Status >= 400 }

// boundTo is the name that a part of an answer is sealed under, so that a sealed answer cannot be moved to another key
// or part. Outside a bulk, the body is named by the request's key alone.
func boundTo(a *loyalty.Answer, part string) []byte {
	if a.Place > 0 {
		part = strconv.Itoa(a.Place) + part
	}
	if part == "" {
		return []byte(a.Key)
	}
	return []byte(a.Key + "\x00" + part)
}

// sealAnswer encrypts an answer under its customer's key, because it shows the customer's profile.
func sealAnswer(a *loyalty.Answer, c *loyalty.Customer) (err error) {
	a.Customer = c.ID
	if a.Body, err = loyalty.Seal(c.Key, boundTo(a, ""), a.Body); err != nil || len(a.Block) == 0 {
		return err
	}
	a.Block, err = loyalty.Seal(c.Key, boundTo(a, blockPart), a.Block)
	return err
}

// openAnswer is the reverse of sealAnswer.
func openAnswer(a *loyalty.Answer, key []byte) (err error) {
	if a.Body, err = loyalty.Open(key, boundTo(a, ""), a.Body); err != nil || len(a.Block) == 0 {
		return err
	}
	a.Block, err = loyalty.Open(key, boundTo(a, blockPart), a.Block)
	return err
}

const blockPart = "customer"

// remember stores the answer of an idempotent ticket together with its effect, or on its own if a rule refused it. A
// refusal is stored only if the node that gave it had the configuration in force: under the previous one the event
// might have been accepted.
func (b *batch) remember(t *Ticket) {
	idem := t.sub.Idempotency
	if idem == nil || !loyalty.WorthStoring(t.Result.Err) {
		return
	}

	if t.Result.Err != nil {
		if !b.asked.version {
			t.Result.Err = &NeedMoreError{needs: loyalty.CustomerNeeds{Version: true}}
			return
		}
		if b.loaded.Version != t.version {
			return
		}
	}

	answer := loyalty.Answer{AnswerKey: idem.AnswerKey, Hash: idem.Hash, At: b.now}
	answer.Status, answer.Body = idem.Render(t.Result.Outcome, t.Result.Err)
	if idem.Language != nil {
		answer.Language = idem.Language()
	}
	if t.Result.Err == nil && idem.Block != nil {
		answer.Block = idem.Block(t.Result.Outcome)
	}

	clear := answer
	if c := &t.Result.Outcome.Customer; c.Key != nil && c.Status != loyalty.OptedOut {
		if err := sealAnswer(&answer, c); err != nil {
			t.Result.Err = loyalty.ErrInternal.Because(err)
			return
		}
	}

	b.keepWhole(idem)
	b.keepAnswer(clear, answer)
}

// keepWhole stores the content of a whole bulk under the bulk's key, together with the first of its events.
func (b *batch) keepWhole(i *loyalty.Idempotency) {
	if i.Place == 0 {
		return
	}
	whole := loyalty.Answer{AnswerKey: i.WholeKey(), Hash: i.Whole, Status: 200, At: b.now}
	if _, known := b.answers[whole.AnswerKey]; !known {
		b.keepAnswer(whole, whole)
	}
}

// keepAnswer adds a sealed answer to the writes; the rest of the batch reads it in the clear.
func (b *batch) keepAnswer(clear, sealed loyalty.Answer) {
	before, known := b.answers[clear.AnswerKey]
	b.answers[clear.AnswerKey] = clear
	if own := slices.IndexFunc(b.writes.Answers,
		func(a loyalty.Answer) bool { return known && a.AnswerKey == clear.AnswerKey }); own >= 0 {
		b.writes.Answers[own] = sealed // an earlier event of this batch
		return
	}
	if known {
		b.writes.Replaced = append(b.writes.Replaced, before)
	}
	b.writes.Answers = append(b.writes.Answers, sealed)
}

// doneBefore reports whether a ticket has no result of its own, because its bulk item was already done.
func (t *Ticket) doneBefore() bool { return t.itemDone && t.Result.Err == nil }

// mark is the row that marks a ticket's bulk item as ended.
func (t *Ticket) mark(at time.Time, err error) loyalty.BulkMark {
	m := loyalty.BulkMark{BulkKey: t.item, At: at}
	if err != nil {
		m.Error = loyalty.StoredError(err)
	}
	return m
}

// tick ends a ticket's bulk item in the same transaction as the ticket's effect. An item that failed by a fault is
// ended separately, once the fault is known to be permanent.
func (b *batch) tick(t *Ticket) {
	if t.item == (loyalty.BulkKey{}) || t.preview || t.Result.Err != nil && !loyalty.Final(t.Result.Err) {
		return
	}
	b.loaded.Items[t.item] = false
	b.writes.Items = append(b.writes.Items, t.mark(b.rules.Now(), t.Result.Err))
}
