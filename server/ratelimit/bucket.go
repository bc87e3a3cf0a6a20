package ratelimit

import "time"

// cost is one request. The level of a bucket is stored in 60 billionths of a request, which is what a rate of one a
// minute drains in a nanosecond: every rate then drains a whole number, and nothing is rounded.
const cost = int64(time.Minute)

// bucket is the state of one key: GCRA in the form of a level that drains, instead of a theoretical arrival time. It
// needs no absolute time, so a step of the clock cannot lock a key out. Instants are nanoseconds since the limiter was
// made.
type bucket struct {
	level int64 // at the instant seen
	seen  int64
	empty int64 // when level will have drained
}

// take counts n requests at the instant now, if all of them fit.
func (b *bucket) take(now int64, perMinute, n int) Verdict {
	rate, capacity := int64(perMinute), int64(perMinute)*cost
	b.drain(now, rate)
	b.level = min(b.level, capacity) // after the limit was lowered: a bucket holds one minute of the present limit
	v := Verdict{Limit: perMinute}
	if over := b.level + int64(n)*cost - capacity; over > 0 {
		v.RetryAfter = time.Duration(ceilDiv(over, rate))
	} else {
		v.Allowed = true
		b.level += int64(n) * cost
	}

	v.Remaining = remaining(b.level, capacity)
	reset := ceilDiv(b.level, rate)
	v.Reset = time.Duration(reset)
	b.empty = b.seen + reset
	return v
}

// drain lets the time since the last request pass. A clock that went back drains nothing.
func (b *bucket) drain(now, rate int64) {
	elapsed := now - b.seen
	if elapsed <= 0 {
		return
	}
	b.seen = now
	// Compared before it is multiplied, because the product could overflow after a long rest.
	if elapsed >= ceilDiv(b.level, rate) {
		b.level = 0
	} else {
		b.level -= elapsed * rate
	}
}

// remaining counts the whole requests that still fit.
func remaining(level, capacity int64) int { return int(max(capacity-level, 0) / cost) }

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
