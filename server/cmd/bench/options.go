package main

import "time"

// options are the flags.
type options struct {
	binary    string
	reps      int
	seconds   int
	only      []string
	sqlite    bool
	customers int
	events    int           // of the journal that is read
	wait      time.Duration // how long to wait for the machine to become quiet
	dir       string        // where the throw-away folders are made; empty: the system's
}

func (o options) window() time.Duration { return time.Duration(o.seconds) * time.Second }
