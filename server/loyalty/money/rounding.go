package money

// RoundTo rounds an amount to whole units of another one, such as the smallest unit of a currency,
// half away from zero.
func (a Amount) RoundTo(unit Amount) Amount {
	rest := a % unit
	whole := a - rest
	switch {
	case 2*rest >= unit && whole <= maxAmount-unit:
		return whole + unit
	case -2*rest >= unit && whole >= -maxAmount+unit:
		return whole - unit
	}
	return whole
}

// maxAmount is the greatest amount there is.
const maxAmount Amount = 1<<63 - 1
