package main

import "time"

// leastSeconds is the shortest measurement: it shows that everything works, and no more.
const leastSeconds = 0.05

// options are the flags.
type options struct {
	binary    string
	reps      int
	seconds   float64
	only      []string
	sqlite    bool
	customers int
	events    int           // of the journal that is read
	wait      time.Duration // how long to wait for the machine to become quiet
	dir       string        // where the throw-away folders are made; empty: the system's
}

func (o options) window() time.Duration { return time.Duration(o.seconds * float64(time.Second)) }
