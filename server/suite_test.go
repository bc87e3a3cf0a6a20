package server_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestMain holds at the end of a whole run that the failures came which tests name as
// another one's. The collector is set as the program sets it: every test has a server of its
// own, and a sixth of what they took was collecting.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	code := storetest.RunTests(m)
	if code == 0 && whole() {
		expected.Range(func(number, name any) bool {
			if _, ok := answered.Load(number); !ok {
				fmt.Fprintf(os.Stderr, "no test was answered with %d (%v)\n", number, name)
				code = 1
			}
			return true
		})
	}
	os.Exit(code)
}

// whole says that no test was left out.
func whole() bool {
	for _, some := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(some); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}

var (
	answered sync.Map // codes of the failures that were answered to any test
	expected sync.Map // codes of those that a test leaves to others, with why
)

// note remembers the code of a failure.
func (a answer) note() answer {
	var v struct {
		Error fault `json:"error"`
	}
	if a.status >= http.StatusBadRequest && json.Unmarshal([]byte(a.body), &v) == nil {
		answered.Store(v.Error.Code, true)
	}
	return a
}
