// Package doctor examines an installation: settings, the master key, the database, the clock, jobs, keys, backups,
// webhooks, users, the ledger. Each finding is one sentence about what is wrong and one command that helps.
package doctor

import (
	"context"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store"
)

// Severity is the severity of a finding.
type Severity string

// The severities.
const (
	Fine      Severity = "fine"
	Warning   Severity = "warning"
	Broken    Severity = "broken"
	Unchecked Severity = "could not check"
)

// Finding is one result of an examination.
type Finding struct {
	Check    string   `json:"check"`
	Severity Severity `json:"severity"`
	Says     string   `json:"says"`
	Do       string   `json:"do,omitempty"` // a command that helps; empty: nothing to do

	// Name is the key of its text, with Args, in the catalogue (doctor.NAME); Says is that text in English.
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

// catalogue is read on first use.
var catalogue = sync.OnceValues(i18n.Load)

// Patient is the installation.
type Patient struct {
	Now func() time.Time
	// Environment are the names of the variables that are set, Settings the names that the program knows.
	Environment, Settings []string
	Listen                string // host:port
	Local                 bool   // Listen can be reached from this machine only
	PublicHosts           []string
	TrustedProxies        []string
	// SecretFiles are files with secrets.
	SecretFiles []string
	// Folder is the folder of the embedded database; empty: the database is on a server.
	Folder string
	// ClockRight is the last instant known to be right, if the clock was far ahead of it at the start, so that nothing
	// due is applied; zero: the clock is trusted.
	ClockRight time.Time
	// Space returns the free space of a folder's disk in bytes; ok is false if it is unknown.
	Space func(folder string) (free, total uint64, ok bool)
	Store *store.Store
	// BackupDir is the folder of backups; empty: not set.
	BackupDir string
	// Node is the node that examines, Program the program that it runs; both are for System alone.
	Node    loyalty.ID
	Program administration.SystemProgram
	Keys    func(context.Context) ([]loyalty.AccessKey, error)
	Jobs    func(context.Context) ([]job.Job, error)
	// Redis checks whether Redis answers; nil: not set.
	Redis func(context.Context) error
	// Issuer is the provider of the console's sign-in, Provider reads its description; nil if there is none, or it is
	// not to be asked.
	Issuer   string
	Provider func(context.Context) error
	// Replicas returns the state of the standbys that answer reads; nil: not set.
	Replicas func(context.Context) ([]store.Replica, error)
	// LogMost is the accepted size of SQLite's write-ahead log in bytes; a long-running reader makes it grow.
	LogMost int64
	// OldestPostgres is the oldest supported major version.
	OldestPostgres int
	// LedgerTime bounds the check of the ledger; 0: no check.
	LedgerTime time.Duration
}

// check is one examination.
type check struct {
	name string
	look func(context.Context, *Patient) []Finding
}

var checks = []check{
	{"settings", settings}, {"secrets", secrets}, {"network", network}, {"schema", schema},
	{"master key", masterKey}, {"database", database},
	{"journal", journal}, {"clock", clock}, {"disk", disk}, {"log", sqliteLog}, {"jobs", jobs},
	{"followers", followers}, {"keys", keys},
	{"redis", redis}, {"replicas", replicas}, {"sign-in", provider}, {"backups", backups}, {"webhooks", webhooks},
	{"users", users}, {"ledger", ledger},
}

// Examine runs all checks. A check without a finding reports that it is fine.
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
