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

// What of the memory customers' rows may take that are kept from one event to the next: a part of it,
// within bounds. With a programme a customer takes some 3 KiB, and a batch of whom one is not kept is loaded.
const (
	keptPart  = 64
	leastKept = 96 << 20
	mostKept  = 384 << 20
)

// keptMemory is how many bytes are for kept rows of so many that there are.
func keptMemory(there uint64) int { return int(min(max(there/keptPart, leastKept), mostKept)) }

// memoryThere is the container's limit, or else the machine's memory; 0 where neither is known. A
// limit that was set for the program alone (GOMEMLIMIT) counts where it is less.
func memoryThere() uint64 {
	there, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil {
		return 0
	}
	return min(there, uint64(debug.SetMemoryLimit(-1)))
}
