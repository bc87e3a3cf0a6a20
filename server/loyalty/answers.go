package loyalty

import (
	"errors"
	"slices"
	"strconv"
)

// replay answers a ticket from an earlier one under the same idempotency key. nil:
// there was none, or only one that another event of a bulk may take the place of.
func (b *batch) replay(t *ticket) (*Answer, error) {
	if t.sub.Idempotency == nil || t.preview {
		return nil, nil
	}
	answer, err := b.earlier(t.sub.Idempotency)
	if answer == nil || err != nil || answer.Customer == (ID{}) {
		return answer, err
	}
	// The answer may be another customer's than the one who is named now: of the one
	// whom that one was merged into, or of somebody who gave an external id up.
	a, ok := b.accounts[answer.Customer]
	need := CustomerNeeds{ID: answer.Customer, Key: true}
	if !b.asked.people[need.person()] && (!ok || !a.covers(&need)) {
		return nil, &wanting{needs: need}
	}
	if !ok || a.customer.Key == nil {
		return nil, ErrCustomerNotFound.At("customer") // forgotten since
	}
	return answer, answer.open(a.customer.Key)
}

// earlier finds the stored answer of a request. It fails with ErrKeyReused where
// the key was used for another one. In a bulk each event has an answer of its own at
// its place, and one that was refused may be sent corrected.
func (b *batch) earlier(i *Idempotency) (*Answer, error) {
	if i.Place > 0 {
		if whole, ok := b.answers[i.whole()]; ok && whole.Hash != i.Whole {
			return nil, ErrKeyReused
		}
	}
	answer, ok := b.answers[i.AnswerKey]
	switch {
	case !ok, answer.Hash != i.Hash && i.Place > 0 && answer.refused():
		return nil, nil
	case answer.Hash != i.Hash:
		return nil, ErrKeyReused
	}
	return &answer, nil
}

// refused says whether nothing was done when the answer was given.
func (a *Answer) refused() bool { return a.Status >= 400 }

// bound names a part of an answer when it is sealed. The body of a request that is
// no event of a bulk has its key for a name, as it had before there were parts.
func (a *Answer) bound(part string) []byte {
	if a.Place > 0 {
		part = strconv.Itoa(a.Place) + part
	}
	if part == "" {
		return []byte(a.Key)
	}
	return []byte(a.Key + "\x00" + part)
}

// seal puts an answer under its customer's key.
func (a *Answer) seal(c *Customer) (err error) {
	a.Customer = c.ID
	if a.Body, err = Seal(c.Key, a.bound(""), a.Body); err != nil || len(a.Block) == 0 {
		return err
	}
	a.Block, err = Seal(c.Key, a.bound(blockPart), a.Block)
	return err
}

// open is the reverse of seal.
func (a *Answer) open(key []byte) (err error) {
	if a.Body, err = Open(key, a.bound(""), a.Body); err != nil || len(a.Block) == 0 {
		return err
	}
	a.Block, err = Open(key, a.bound(blockPart), a.Block)
	return err
}

const blockPart = "customer"

// remember stores the answer of an idempotent ticket with its effect, or with
// nothing where a rule refused. A refusal is kept only where the node that gave it
// had followed the configuration in force: under the one before it might have been
// another.
func (b *batch) remember(t *ticket) {
	idem := t.sub.Idempotency
	if idem == nil || !storable(t.result.Err) {
		return
	}
	if t.result.Err != nil {
		if !b.asked.version {
			t.result.Err = &wanting{needs: CustomerNeeds{Version: true}}
			return
		}
		if b.loaded.Version != t.version {
			return
		}
	}
	answer := Answer{AnswerKey: idem.AnswerKey, Hash: idem.Hash, At: b.now}
	answer.Status, answer.Body = idem.Render(t.result.Outcome, t.result.Err)
	if t.result.Err == nil && idem.Block != nil {
		answer.Block = idem.Block(t.result.Outcome)
	}
	clear := answer
	if c := &t.result.Outcome.Customer; c.Key != nil && c.Status != OptedOut {
		if err := answer.seal(c); err != nil {
			t.result.Err = ErrInternal.Because(err)
			return
		}
	}
	b.keepWhole(idem)
	b.keepAnswer(clear, answer)
}

// keepWhole notes what the key of a bulk stands for, with the first of its events.
func (b *batch) keepWhole(i *Idempotency) {
	if i.Place == 0 {
		return
	}
	whole := Answer{AnswerKey: i.whole(), Hash: i.Whole, Status: 200, At: b.now}
	if _, known := b.answers[whole.AnswerKey]; !known {
		b.keepAnswer(whole, whole)
	}
}

// keepAnswer adds an answer to those to write; the rest of the batch reads it in the
// clear.
func (b *batch) keepAnswer(clear, sealed Answer) {
	before, known := b.answers[clear.AnswerKey]
	b.answers[clear.AnswerKey] = clear
	if own := slices.IndexFunc(b.writes.Answers, func(a Answer) bool { return known && a.AnswerKey == clear.AnswerKey }); own >= 0 {
		b.writes.Answers[own] = sealed // of this very batch
		return
	}
	if known {
		b.writes.Replaced = append(b.writes.Replaced, before)
	}
	b.writes.Answers = append(b.writes.Answers, sealed)
}

// storable says which refusals are remembered: those of the programme's rules,
// not those of a malformed or unlucky request.
func storable(err error) bool {
	if err == nil {
		return true
	}
	var e *Error
	return errors.As(err, &e) && (e.Kind == NotFound || e.Kind == Conflict || e.Kind == Refused)
}
