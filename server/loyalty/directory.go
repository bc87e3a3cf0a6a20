package loyalty

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Directory holds the programme and the access keys in memory, so that no
// request asks the database for what changes rarely. A change swaps the whole
// view at once; a request sees one view from end to end.
type Directory struct {
	store   AdminStore
	clock   func() time.Time
	report  func(error)
	current atomic.Pointer[view]

	refreshing sync.Mutex // one at a time, so that an older view never follows a newer one

	usedLock sync.Mutex
	used     map[string]time.Time

	told string // the last failure reported; touched by Watch alone
}

// view is the configuration at one version.
type view struct {
	programme *Programme
	keys      map[string]*AccessKey
}

// DirectoryOptions are what a Directory needs.
type DirectoryOptions struct {
	Store AdminStore
	Clock func() time.Time // nil: time.Now
	// Report hears of refreshes in the background that failed; the last good
	// view stays in force meanwhile.
	Report func(error)
}

// NewDirectory reads the configuration and the keys. It fails when they cannot
// be read or do not make a programme (see CompileProgramme).
func NewDirectory(ctx context.Context, o DirectoryOptions) (*Directory, error) {
	d := &Directory{store: o.Store, clock: o.Clock, report: o.Report, used: map[string]time.Time{}}
	if d.clock == nil {
		d.clock = time.Now
	}
	if d.report == nil {
		d.report = func(error) {}
	}
	return d, d.Refresh(ctx)
}

// Programme is the configuration in force. It never changes; ask again for the
// next event.
func (d *Directory) Programme() *Programme { return d.current.Load().programme }

// Key finds an access key in force now, with the secrets in force now, the
// newest first. Unknown, revoked and expired keys are all answered with false.
// The key is shared: it must not be changed.
func (d *Directory) Key(id string) (*AccessKey, bool) {
	key, ok := d.current.Load().keys[id]
	now := d.clock()
	if !ok || !inForce(key.ExpiresAt, now) {
		return nil, false
	}
	if !slices.ContainsFunc(key.Secrets, func(s Secret) bool { return !inForce(s.ExpiresAt, now) }) {
		return key, true
	}
	current := *key
	current.Secrets = secretsInForce(key.Secrets, now)
	return &current, len(current.Secrets) > 0
}

// inForce says whether something that expires at an instant (zero: never) still
// holds at now.
func inForce(expires, now time.Time) bool { return expires.IsZero() || now.Before(expires) }

func secretsInForce(all []Secret, now time.Time) []Secret {
	return slices.DeleteFunc(slices.Clone(all), func(s Secret) bool { return !inForce(s.ExpiresAt, now) })
}

// Used marks a key as used now. It is kept in memory until Flush.
func (d *Directory) Used(id string) {
	now := d.clock().UTC()
	d.usedLock.Lock()
	d.used[id] = now
	d.usedLock.Unlock()
}

// Flush records when keys were last used. What could not be recorded is kept
// for the next time.
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
		maps.Copy(used, d.used) // what came meanwhile is newer
		d.used = used
		d.usedLock.Unlock()
	}
	return err
}

// Refresh reads the configuration again. When it fails, the view stays.
func (d *Directory) Refresh(ctx context.Context) error {
	d.refreshing.Lock()
	defer d.refreshing.Unlock()
	snapshot, err := d.store.Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	programme, err := CompileProgramme(snapshot)
	if err != nil {
		return fmt.Errorf("configuration %d: %w", snapshot.Version, err)
	}
	keys := make(map[string]*AccessKey, len(snapshot.Keys))
	for _, k := range snapshot.Keys {
		if k.RevokedAt.IsZero() {
			keys[k.ID] = &k
		}
	}
	d.current.Store(&view{programme, keys})
	return nil
}

// How long uses of keys stay in memory, and how long the database may take: on a
// connection that has died silently a revoked key would stay good for ever.
const (
	flushEvery = 10 * time.Second
	answerTime = 2 * time.Second
)

func bounded(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return ask(ctx)
}

// Watch follows changes that other processes and nodes make, asking for the
// version every so often, and flushes the uses of keys. It returns when ctx
// ends, after a last flush.
func (d *Directory) Watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	for {
		select {
		case <-ctx.Done():
			d.tell(bounded(context.WithoutCancel(ctx), d.Flush))
			return
		case <-tick.C:
			d.tell(bounded(ctx, d.follow))
		case <-flush.C:
			d.tell(bounded(ctx, d.Flush))
		}
	}
}

func (d *Directory) follow(ctx context.Context) error {
	version, err := d.store.Version(ctx)
	if err != nil || version == d.Programme().Version {
		return err
	}
	return d.Refresh(ctx)
}

// tell reports a failure, once while it stays the same: an outage is not told
// every second. That the program is stopping is no failure.
func (d *Directory) tell(err error) {
	text := ""
	if err != nil && !errors.Is(err, context.Canceled) {
		text = err.Error()
	}
	if text != "" && text != d.told {
		d.report(err)
	}
	d.told = text
}
