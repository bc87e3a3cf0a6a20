package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// How much of the memory there is the program wants to live with: of a
// container's limit, which it has to itself, and of a machine's, which it shares.
const (
	ofContainer = 0.8
	ofMachine   = 0.5
)

// limitMemory makes the collector work harder before the memory ends, and lets the
// heap grow to five times what is live until then: what lives is small, so
// collecting at twice its size took a quarter of the processor under load.
// GOMEMLIMIT and GOGC, where they are set, win. What reading the documents left is
// given back first: it is more than what stays.
func limitMemory(logger *slog.Logger) {
	debug.FreeOSMemory()
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(400)
	}
	limit, err := memlimit.SetGoMemLimitWithOpts(memlimit.WithRatio(1), memlimit.WithProvider(memlimit.ApplyFallback(
		memlimit.ApplyRatio(memlimit.FromCgroup, ofContainer), memlimit.ApplyRatio(memlimit.FromSystem, ofMachine))))
	if err != nil {
		logger.Warn("the memory limit is unknown; GOMEMLIMIT sets one", "error", err)
		return
	}
	if limit == 0 { // GOMEMLIMIT is set
		limit = debug.SetMemoryLimit(-1)
	}
	logger.Info("memory limit", "limit", fmt.Sprintf("%d MiB", limit>>20))
}
