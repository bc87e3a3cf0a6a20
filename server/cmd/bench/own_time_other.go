//go:build !unix

package main

import "time"

func ownTime() time.Duration { return 0 }
