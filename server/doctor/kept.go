package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// What people have to look after: copies, receivers, users.

// backupOld is when a copy a day was missed.
const backupOld = 26 * time.Hour

func backups(_ context.Context, p *Patient) (list []Finding) {
	if p.BackupDir == "" {
		if p.Local {
			return nil
		}
		return []Finding{{Severity: Warning, Says: "no folder for backups is set, so the server makes none", Do: "LOYALTY_BACKUP_DIR=/var/backups/loyalty loyalty serve"}}
	}
	all, err := backup.List(p.BackupDir)
	if err != nil {
		return unchecked(err)
	}
	if len(all) == 0 {
		return []Finding{{Severity: Warning, Says: "there is no backup in " + p.BackupDir, Do: "loyalty backup create"}}
	}
	b := &all[0]
	if age := p.Now().Sub(b.MadeAt); age > backupOld {
		list = append(list, Finding{Severity: Warning, Says: fmt.Sprintf("the last backup is %s old", age.Round(time.Hour)), Do: "loyalty backup create"})
	}
	switch b.Checked {
	case backup.Broken:
		list = append(list, Finding{Severity: Broken, Says: "the ledger of the last backup does not hold", Do: "loyalty ledger verify"})
	case backup.Read:
		list = append(list, Finding{Severity: Warning, Says: "the last backup was read, not opened and proven: the role may not make databases", Do: `psql -c "ALTER ROLE loyalty CREATEDB"`})
	}
	return list
}

// waitingLong is how old the oldest message may be that waits for its receiver.
const waitingLong = time.Hour

func webhooks(ctx context.Context, p *Patient) (list []Finding) {
	all, err := p.Store.Webhooks(ctx)
	if err != nil {
		return unchecked(err)
	}
	waiting, err := p.Store.Backlogs(ctx)
	if err != nil {
		return unchecked(err)
	}
	for i := range all {
		w, b := &all[i], waiting[all[i].ID]
		say := func(do, format string, args ...any) {
			list = append(list, Finding{
				Severity: Warning, Says: fmt.Sprintf("the webhook %s (%s) ", w.ID, w.Label) + fmt.Sprintf(format, args...),
				Do: "loyalty sign POST http://" + p.Listen + "/admin/webhooks/" + w.ID.String() + do + " --send",
			})
		}
		switch {
		case w.State == loyalty.WebhookDisabled:
			say("/resume", "is disabled: its receiver is %s", map[string]string{loyalty.DisabledGone: "gone", loyalty.DisabledFailing: "failing"}[w.Reason])
		case w.State == loyalty.WebhookPaused:
			say("/resume", "is paused; messages that wait: %d", b.Waiting)
		case !b.Oldest.IsZero() && p.Now().Sub(b.Oldest) > waitingLong:
			say("/test", "has messages that wait since %s", b.Oldest.UTC().Format(time.RFC3339))
		}
		if b.Dead > 0 {
			say("/deliveries/-/retry", "gave up messages: %d", b.Dead)
		}
	}
	return list
}

// users finds owners whose password alone opens everything. Who comes from an outside
// sign-in has what it asks for.
func users(ctx context.Context, p *Patient) (list []Finding) {
	all, err := p.Store.Users(ctx)
	if err != nil {
		return unchecked(err)
	}
	for i := range all {
		if u := &all[i]; u.Role == loyalty.RoleOwner && u.DisabledAt.IsZero() && u.Password != "" && len(u.TOTP) == 0 {
			list = append(list, Finding{Severity: Warning, Says: "the account " + u.Login + ", an owner, has no second factor: its user sets it up in the console, by the name at the top", Do: "loyalty users list"})
		}
	}
	return list
}
