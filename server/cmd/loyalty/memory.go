package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The program's share of the memory: of a container's limit, which it has to itself, and of a machine's memory, which
// it shares.
const (
	ofContainer = 0.8
	ofMachine   = 0.5
)

// limitMemory makes the garbage collector work harder near the limit, and lets the heap grow to five times the live
// data until then: the live data is small, so the default of twice its size would cost much processor time under load.
// GOMEMLIMIT and GOGC win if they are set. It first frees the memory of reading the documents, which is larger than
// what remains.
func limitMemory(logger *slog.Logger) {
	debug.FreeOSMemory()
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(400)
	}

	limit, err := memlimit.SetGoMemLimitWithOpts(memlimit.WithRatio(1), memlimit.WithProvider(memlimit.ApplyFallback(
		memlimit.ApplyRatio(memlimit.FromCgroup, ofContainer), memlimit.ApplyRatio(memlimit.FromSystem, ofMachine))))
	if err != nil {
		logger.Warn("the memory limit is unknown: set one with GOMEMLIMIT", "error", err)
		return
	}

	if limit == 0 { // GOMEMLIMIT is set
		limit = debug.SetMemoryLimit(-1)
	}

	logger.Info("memory limit", "limit", fmt.Sprintf("%d MiB", limit>>20))
}

// The part of the memory for customers' rows that are kept from one event to the next, with its bounds. With a
// programme a customer takes some 3 KiB, and a batch with a customer who is not kept must load rows.
const (
	keptPart  = 64
	leastKept = 96 << 20
	mostKept  = 384 << 20
)

// keptMemory is the size for kept rows of the given memory, in bytes.
func keptMemory(there uint64) int { return int(min(max(there/keptPart, leastKept), mostKept)) }

// memoryThere is the container's limit, or else the machine's memory; 0 if both are unknown. A limit for the program
// alone (GOMEMLIMIT) counts if it is less.
func memoryThere() uint64 {
	there, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil {
		return 0
	}
	return min(there, uint64(debug.SetMemoryLimit(-1)))
}
