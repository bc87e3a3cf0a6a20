package points

// Estate is everything that a closed book had, for another book to take over.
type Estate struct {
	Lots          []Lot // with their history, except lots of which nothing is left
	Debt, Pending int64
}

// Leave hands over everything in the book: every lot is closed and every figure ends at zero. All
// lots must have been loaded; otherwise it fails with ErrMissing.
func (b *Book) Leave(event ID) (Estate, error) {
	e := Estate{Debt: b.Figures.Debt, Pending: b.Figures.Pending}
	for _, l := range b.lots {
		if l.Gone() < l.Points {
			e.Lots = append(e.Lots, b.Part(event, l))
		}
	}
	b.move(event, Issued, Debt, nil, e.Debt)
	b.move(event, Pending, Promised, nil, e.Pending)
	if b.Figures != (Figures{}) {
		return Estate{}, ErrMissing
	}
	return e, nil
}

// Part closes one lot and returns its last state.
func (b *Book) Part(event ID, l *Lot) Lot {
	was := *l
	for _, from := range []Account{Available, Reserved, Spent, Expired} {
		b.move(event, from, Issued, l, l.in(from))
	}
	return was
}

// Inherit takes over another book's estate: its debt and promises, and the same lots, under their ids and with their
// dates, so that what was spent, held or bought with them can still be undone. It fails with ErrOverflow.
func (b *Book) Inherit(event ID, e Estate) error {
	for i := range e.Lots {
		if err := b.Receive(event, e.Lots[i]); err != nil {
			return err
		}
	}
	if b.Figures.Spendable() < e.Debt-Max {
		return ErrOverflow
	}
	b.move(event, Debt, Issued, nil, e.Debt)
	return b.Promise(event, e.Pending)
}

// Receive opens a lot as it was in another book. It fails with ErrOverflow.
func (b *Book) Receive(event ID, l Lot) error {
	if !b.fits(l.Points - l.Gone()) {
		return ErrOverflow
	}
	lot := l
	lot.Remaining, lot.Reserved, lot.Spent, lot.Expired = 0, 0, 0, 0
	b.lots = append(b.lots, &lot)
	b.move(event, Issued, Available, &lot, l.Points)
	b.move(event, Available, Issued, &lot, l.Gone())
	for _, to := range []Account{Reserved, Spent, Expired} {
		b.move(event, Available, to, &lot, l.in(to))
	}
	return nil
}

// in returns how many points of the lot are in one of its accounts.
func (l *Lot) in(a Account) int64 {
	switch a {
	case Available:
		return l.Remaining
	case Reserved:
		return l.Reserved
	case Spent:
		return l.Spent
	case Expired:
		return l.Expired
	}
	return 0
}
