package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// Directory holds the programme and the access keys in memory, so that requests do not read from the database what
// changes rarely. A change replaces the whole view at once; a request uses one view from beginning to end.
type Directory struct {
	store    loyalty.AdminStore
	registry *programme.Registry
	clock    func() time.Time
	report   func(error)
	current  atomic.Pointer[view]

	refreshing chan struct{} // one at a time, so that an older view never follows a newer one

	usedLock sync.Mutex
	used     map[string]time.Time

	asking, reads teller // of failures in the background

	followed atomic.Int64  // when the view was last known to be the newest, in Unix milliseconds
	reading  atomic.Bool   // a refresh of Watch is running
	patience time.Duration // time limit of the next one; only that goroutine uses it
}

// view is the configuration at one version.
type view struct {
	programme *programme.Programme
	keys      map[string]*loyalty.AccessKey
}

// DirectoryOptions is what a Directory needs.
type DirectoryOptions struct {
	Store    loyalty.AdminStore
	Registry *programme.Registry
	Clock    func() time.Time // nil: time.Now
	// Report is called with failures to refresh in the background; the last good view stays in
	// force meanwhile.
	Report func(error)
}

// NewDirectory reads the configuration and the keys. It fails if they cannot be read or do not make
// a programme (see Registry.Compile).
func NewDirectory(ctx context.Context, o DirectoryOptions) (*Directory, error) {
	d := &Directory{store: o.Store, registry: o.Registry, clock: o.Clock, report: o.Report, used: map[string]time.Time{},
		patience: readTime, refreshing: make(chan struct{}, 1)}
	if d.clock == nil {
		d.clock = time.Now
	}
	if d.report == nil {
		d.report = func(error) {}
	}
	return d, d.Refresh(ctx)
}

// Programme returns the configuration in force. The value never changes, so it must be asked for
// again for the next event.
func (d *Directory) Programme() *programme.Programme { return d.current.Load().programme }

// Key returns an access key in force with its secrets in force, newest first. It returns false for
// unknown, revoked and expired keys alike. The key is shared and must not be changed.
func (d *Directory) Key(id string) (*loyalty.AccessKey, bool) {
	key, ok := d.current.Load().keys[id]
	now := d.clock()
	if !ok || !inForce(key.ExpiresAt, now) {
		return nil, false
	}
	if !slices.ContainsFunc(key.Secrets, func(s loyalty.Secret) bool { return !inForce(s.ExpiresAt, now) }) {
		return key, true
	}
	current := *key
	current.Secrets = secretsInForce(key.Secrets, now)
	return &current, len(current.Secrets) > 0
}

// inForce reports whether something that expires at an instant (zero: never) is still valid at now.
func inForce(expires, now time.Time) bool { return expires.IsZero() || now.Before(expires) }

func secretsInForce(all []loyalty.Secret, now time.Time) []loyalty.Secret {
	return slices.DeleteFunc(slices.Clone(all), func(s loyalty.Secret) bool { return !inForce(s.ExpiresAt, now) })
}

// Used marks a key as used now. It is kept in memory until Flush.
func (d *Directory) Used(id string) {
	now := d.clock().UTC()
	d.usedLock.Lock()
	d.used[id] = now
	d.usedLock.Unlock()
}

// Flush stores when keys were last used. What cannot be stored is kept for the next time.
func (d *Directory) Flush(ctx context.Context) error {
	d.usedLock.Lock()
	used := d.used
	d.used = map[string]time.Time{}
	d.usedLock.Unlock()
	if len(used) == 0 {
		return nil
	}

	err := d.store.KeysUsed(ctx, used)
	if err != nil {
		d.usedLock.Lock()
		maps.Copy(used, d.used) // uses recorded meanwhile are newer
		d.used = used
		d.usedLock.Unlock()
	}

	return err
}

// Refresh reads the configuration again. If it fails, the view stays.
func (d *Directory) Refresh(ctx context.Context) error {
	select {
	case d.refreshing <- struct{}{}:
		defer func() { <-d.refreshing }()
	case <-ctx.Done():
		return fmt.Errorf("reading the configuration: %w", ctx.Err())
	}

	began := time.Now()
	snapshot, err := d.store.Snapshot(ctx, d.registry.SnapshotTypes())
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}

	programme, err := d.registry.Compile(snapshot)
	if err != nil {
		return fmt.Errorf("configuration %d: %w", snapshot.Version, err)
	}

	keys := make(map[string]*loyalty.AccessKey, len(snapshot.Keys))
	for _, k := range snapshot.Keys {
		if k.RevokedAt.IsZero() && len(k.Secrets) > 0 {
			keys[k.ID] = &k
		}
	}

	for _, id := range snapshot.Unreadable {
		d.report(fmt.Errorf("access key %s: a secret does not open and is left out; rotate the key", id))
	}

	d.current.Store(&view{programme, keys})
	d.seen(began)
	return nil
}

// seen records that the view was the newest at an instant.
func (d *Directory) seen(at time.Time) { d.followed.Store(at.UnixMilli()) }

// Behind is how long it has been unknown whether the view is the newest, because the version could
// not be read or a newer configuration is still being read.
func (d *Directory) Behind() time.Duration { return time.Since(time.UnixMilli(d.followed.Load())) }

// How often uses of keys are stored, and how long the database may take to answer: without a limit,
// a revoked key would stay valid for ever on a connection that has died silently.
const (
	flushEvery = 10 * time.Second
	answerTime = 2 * time.Second
	// The time limit for reading the configuration. A large programme takes long to read: a read that did not finish in
	// time gets twice as long at the next attempt, and later reads keep the longer limit.
	readTime    = 5 * time.Second
	maxReadTime = time.Hour
)

func bounded(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return ask(ctx)
}

// Watch follows changes by other processes and nodes, asking for the version at the given interval,
// and stores the uses of keys. It returns when ctx ends, after a last Flush.
func (d *Directory) Watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	var readers sync.WaitGroup
	defer readers.Wait()

	for {
		select {
		case <-ctx.Done():
			d.asking.tell(bounded(context.WithoutCancel(ctx), d.Flush), d.report)
			return
		case <-tick.C:
			d.asking.tell(d.follow(ctx, &readers), d.report)
		case <-flush.C:
			d.asking.tell(bounded(ctx, d.Flush), d.report)
		}
	}
}

// follow asks for the version, and has a newer configuration read by another goroutine, because a slow read does not
// mean that the database is away.
func (d *Directory) follow(ctx context.Context, readers *sync.WaitGroup) error {
	began := time.Now()
	var version int64
	err := bounded(ctx, func(ctx context.Context) (err error) {
		version, err = d.store.Version(ctx)
		return err
	})
	if err != nil {
		return err
	}

	if version == d.Programme().Version {
		d.seen(began)
		return nil
	}

	if d.reading.CompareAndSwap(false, true) {
		readers.Go(func() {
			defer d.reading.Store(false)
			d.read(ctx)
		})
	}

	return nil
}

// read reads the configuration within the current time limit.
func (d *Directory) read(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	began := time.Now()
	err := d.Refresh(limited)
	switch {
	case err == nil:
		d.patience = max(readTime, 2*time.Since(began))
	case limited.Err() != nil:
		d.patience = min(2*d.patience, maxReadTime)
	}
	d.reads.tell(err, d.report)
}

// teller reports a failure once while it stays the same, so that an outage is not reported every
// second. It must be used by one goroutine only.
type teller struct{ told string }

// tell reports a failure. The end of the program is not one.
func (t *teller) tell(err error, report func(error)) {
	text := ""
	if err != nil && !errors.Is(err, context.Canceled) {
		text = err.Error()
	}
	if text != "" && text != t.told {
		report(err)
	}
	t.told = text
}
