package store

// Point is a place on the path of a write. Tests kill the program at each of them, to check what a crash leaves
// behind.
type Point string

// The points, in the order of their writes.
const (
	BatchDecided    Point = "batch decided"    // loaded and decided; nothing is written
	BatchCommitted  Point = "batch committed"  // written durably; the caller was not told
	ChangeWritten   Point = "change written"   // an administrative change before its commit
	ChangeCommitted Point = "change committed" // the caller was not told
	JobTaken        Point = "job taken"        // the lease is written; no work is done
	JobDone         Point = "job done"         // the work is done; the lease remains
	BulkStep        Point = "bulk step"        // a piece of a bulk operation is done but not noted
	TailWritten     Point = "tail written"     // a piece of the tail is numbered, before its commit
	HeadsNoted      Point = "heads noted"      // the heads of an anchor are written, the anchor is not
	// ValuesSealed is passed by a change of the master key, never by a server: some values are under the new key,
	// others are not.
	ValuesSealed Point = "values sealed"
)

// Points lists the points that a server passes.
func Points() []Point {
	return []Point{BatchDecided, BatchCommitted, ChangeWritten, ChangeCommitted, JobTaken, JobDone, BulkStep, TailWritten, HeadsNoted}
}

func (s *database) passes(p Point) {
	if s.at != nil {
		s.at(p)
	}
}
