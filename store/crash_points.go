package store

// Point is a place on the way of a write. Tests end the program at each of them, so
// that what a kill leaves behind there is known.
type Point string

// The points.
const (
	BatchDecided    Point = "batch decided"    // loaded and decided; nothing of it is written
	BatchCommitted  Point = "batch committed"  // written for good; the caller was not told
	ChangeWritten   Point = "change written"   // an administrative change, its commit is left
	ChangeCommitted Point = "change committed" // the caller was not told
	JobTaken        Point = "job taken"        // the lease is written, nothing of the work is done
	JobDone         Point = "job done"         // the work is done, the lease stands
	BulkStep        Point = "bulk step"        // a piece of a bulk operation is done and not noted
	TailWritten     Point = "tail written"     // a piece of the tail has its numbers, its commit is left
	HeadsNoted      Point = "heads noted"      // an anchor has its heads, and is not there
	// ValuesSealed is passed by a change of the master key, never by a server: some values are
	// under the new key, others are not.
	ValuesSealed Point = "values sealed"
)

// Points lists those that a server passes.
func Points() []Point {
	return []Point{BatchDecided, BatchCommitted, ChangeWritten, ChangeCommitted, JobTaken, JobDone, BulkStep, TailWritten, HeadsNoted}
}

func (s *database) passes(p Point) {
	if s.at != nil {
		s.at(p)
	}
}
