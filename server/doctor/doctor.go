// Package doctor looks an installation over: settings, the master key, the database, the clock, jobs, keys, backups,
// webhooks, users, the ledger. Each finding is one sentence about what is wrong and one command that helps.
package doctor

import (
	"context"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Fine      Severity = "fine"
	Warning   Severity = "warning"
	Broken    Severity = "broken"
	Unchecked Severity = "could not check"
)

// Finding is what an examination found.
type Finding struct {
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	Says     string   `json:"says"`
	Do       string   `json:"do,omitempty"` // a command that helps; empty: nothing need be done

	// Name is what it says, with Args, in the catalogue of texts (doctor.NAME): Says is that in English.
	Name string         `json:"-"`
	Args map[string]any `json:"-"`
}

type args = map[string]any

// found is a finding by its name, which must have a text in i18n/locales.
func found(severity Severity, name, do string, a args) Finding {
	return Finding{Severity: severity, Do: do, Name: name, Args: a}
}

func warn(name, do string, a args) Finding { return found(Warning, name, do, a) }

func broken(name, do string, a args) Finding { return found(Broken, name, do, a) }

// catalogue is read when the first patient is seen.
var catalogue = sync.OnceValues(i18n.Load)

// Patient is the installation.
type Patient struct {
	Now func() time.Time
	// Environment are the names of the variables that are set, Settings those that the
	// program knows.
	Environment, Settings []string
	Listen                string // host:port
	Local                 bool   // Listen can be reached from this machine only
	PublicHosts           []string
	TrustedProxies        []string
	// SecretFiles are files that hold secrets.
	SecretFiles []string
	// Folder is where the embedded database lies; empty: it is on a server.
	Folder string
	// ClockRight is the last instant known to be right where a start found the clock far ahead of it,
	// so that nothing due is applied; zero: the clock is believed.
	ClockRight time.Time
	// Space tells how much of a folder's disk is free; ok is false where that is not known.
	Space func(folder string) (free, total uint64, ok bool)
	Store *store.Store
	// BackupDir is the folder of backups; empty: none is set.
	BackupDir string
	// Node is who looks, Program what it runs; both are for System alone.
	Node    loyalty.ID
	Program server.SystemProgram
	Keys    func(context.Context) ([]loyalty.AccessKey, error)
	Jobs    func(context.Context) ([]job.Job, error)
	// Redis asks whether Redis answers; nil: none is set.
	Redis func(context.Context) error
	// Issuer is the provider by which people sign in to the console, Provider asks what it says
	// of itself; nil: there is none, or it is not asked.
	Issuer   string
	Provider func(context.Context) error
	// Replicas are the standbys that answer reads, as they are found; nil: none is set.
	Replicas func(context.Context) ([]store.Replica, error)
	// LogMost is how large SQLite's log may be; a reader that does not end holds it up.
	LogMost int64
	// OldestPostgres is the oldest major version that will do.
	OldestPostgres int
	// LedgerTime bounds the look at the ledger; 0: it is not looked at.
	LedgerTime time.Duration
}

// check is one look.
type check struct {
	name string
	look func(context.Context, *Patient) []Finding
}

var checks = []check{
	{"settings", settings}, {"secrets", secrets}, {"network", network}, {"schema", schema}, {"master key", masterKey}, {"database", database},
	{"journal", journal}, {"clock", clock}, {"disk", disk}, {"log", sqliteLog}, {"jobs", jobs}, {"followers", followers}, {"keys", keys},
	{"redis", redis}, {"replicas", replicas}, {"sign-in", provider}, {"backups", backups}, {"webhooks", webhooks}, {"users", users}, {"ledger", ledger},
}

// Examine looks at everything. A check without a finding has one that says it is fine.
func Examine(ctx context.Context, p *Patient) (list []Finding) {
	words, err := catalogue()
	if err != nil { // the files are in the program
		return []Finding{{Check: "program", Severity: Broken, Says: err.Error(), Do: "loyalty version"}}
	}
	for _, c := range checks {
		if c.name == "ledger" && p.LedgerTime == 0 {
			continue
		}
		all := c.look(ctx, p)
		if len(all) == 0 {
			all = []Finding{found(Fine, "fine", "", nil)}
		}
		for _, f := range all {
			f.Check, f.Says = c.name, words.Message(i18n.Default, "doctor."+f.Name, f.Args)
			list = append(list, f)
		}
	}
	return list
}

// Exit is the exit code: 0 fine, 1 warnings, 2 broken, 3 could not check.
func Exit(list []Finding) (code int) {
	worst := map[Severity]int{Fine: 0, Warning: 1, Unchecked: 2, Broken: 3}
	codes := []int{0, 1, 3, 2}
	most := 0
	for _, f := range list {
		most = max(most, worst[f.Severity])
	}
	return codes[most]
}

func unchecked(err error) []Finding {
	return []Finding{found(Unchecked, "unchecked", "loyalty doctor", args{"fault": err})}
}
