package doctor

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/loyalty-platform/loyalty/server/archive"
	"github.com/loyalty-platform/loyalty/server/backup"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Checks of what people look after: backups, receivers, users.

// backupOld is the age at which a daily backup was missed.
const backupOld = 26 * time.Hour

func backups(ctx context.Context, p *Patient) (list []Finding) {
	if p.BackupDir == "" {
		if p.Local {
			return nil
		}
		return []Finding{warn("backups_none", "LOYALTY_BACKUP_DIR=/var/backups/loyalty loyalty serve", nil)}
	}

	all, err := backup.List(p.BackupDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the first backup makes the folder
		return unchecked(err)
	}

	list = optOuts(ctx, p)
	if len(all) == 0 {
		return append(list, warn("backups_empty", "loyalty backup create", args{"folder": p.BackupDir}))
	}

	b := &all[0]
	if age := p.Now().Sub(b.MadeAt); age > backupOld {
		list = append(list, warn("backup_old", "loyalty backup create", args{"age": age.Round(time.Hour).String()}))
	}

	switch b.Checked {
	case backup.Broken:
		list = append(list, broken("backup_broken", "loyalty ledger verify", nil))
	case backup.Read:
		list = append(list, warn("backup_unproven", `psql -c "ALTER ROLE loyalty CREATEDB"`, nil))
	}

	return list
}

// optOuts looks for customers who left and are missing in the list beside the backups.
func optOuts(ctx context.Context, p *Patient) []Finding {
	path := filepath.Join(p.BackupDir, archive.OptOutsFile)
	missing, err := archive.MissingOptOuts(ctx, p.Store, path)
	switch {
	case errors.Is(err, loyalty.ErrDatabaseAway):
		return unchecked(err)
	case err != nil:
		return []Finding{broken("opt_outs_unreadable", "ls -l "+path, args{"fault": err})}
	case len(missing) > 0:
		return []Finding{broken("opt_outs_missing", "ls -ld "+p.BackupDir+" "+path,
			args{"count": len(missing), "file": path})}
	}
	return nil
}

// waitingLong is the age from which the oldest waiting message is a finding.
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
		say := func(name, do string, more args) {
			all := args{"webhook": w.ID, "label": w.Label}
			maps.Copy(all, more)
			list = append(list, warn(name,
				"loyalty sign POST http://"+p.Listen+"/admin/webhooks/"+w.ID.String()+do+" --send", all))
		}

		switch {
		case w.State == loyalty.WebhookDisabled:
			say(map[string]string{loyalty.DisabledGone: "webhook_gone", loyalty.DisabledFailing: "webhook_failing"}[w.Reason],
				"/resume", nil)
		case w.State == loyalty.WebhookPaused:
			say("webhook_paused", "/resume", args{"waiting": b.Waiting})
		case !b.Oldest.IsZero() && p.Now().Sub(b.Oldest) > waitingLong:
			say("webhook_waits", "/test", args{"since": b.Oldest.UTC().Format(time.RFC3339)})
		}

		if b.Dead > 0 {
			say("webhook_dead", "/deliveries/-/retry", args{"dead": b.Dead})
		}
	}

	return list
}

// users finds owners whose password alone opens everything. For a user of an outside sign-in, the provider decides what
// it asks for.
func users(ctx context.Context, p *Patient) (list []Finding) {
	all, err := p.Store.Users(ctx)
	if err != nil {
		return unchecked(err)
	}
	for i := range all {
		if u := &all[i]; u.Role == loyalty.RoleOwner && u.DisabledAt.IsZero() && u.Password != "" && len(u.TOTP) == 0 {
			list = append(list, warn("second_factor", "loyalty users list", args{"login": u.Login}))
		}
	}
	return list
}
