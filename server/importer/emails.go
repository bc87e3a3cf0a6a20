package importer

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// emails are the members that rows name only by e-mail.
type emails struct {
	holders map[string][]string // ids of members, by EmailKey
	cut     bool                // the rest of the file of members was not read, so other holders are unknown
}

// errEnough ends the reading of a file of which no more is needed.
var errEnough = errors.New("no more is needed")

// emailsOf finds the members that rows name by e-mail: in the file of members, and in the programme, where an e-mail
// that the file changes does not count.
func emailsOf(ctx context.Context, w World, files []File, o Options) (*emails, error) {
	e := &emails{holders: map[string][]string{}}
	for _, f := range files {
		if err := e.wants(ctx, f, o, w); err != nil {
			return nil, err
		}
	}

	if len(e.holders) == 0 {
		return e, nil
	}

	written := map[string]bool{} // members with an e-mail in the file
	for _, f := range files {
		if err := e.reads(ctx, f, o, w, written); err != nil {
			return nil, err
		}
	}

	for some := range slices.Chunk(slices.Sorted(maps.Keys(e.holders)), askedAtOnce) {
		known, err := w.Store.EmailsTaken(ctx, some)
		if err != nil {
			return nil, err
		}
		for key, ids := range known {
			for _, id := range ids {
				if !written[id] {
					e.add(key, id)
				}
			}
		}
	}

	return e, nil
}

// wants notes the e-mails in place of ids.
func (e *emails) wants(ctx context.Context, f File, o Options, w World) error {
	if !kindOf(f.Kind).byEmail {
		return nil
	}

	err := eachRow(source{f, o, w.Programme.Location, nil}, func(s *sheet) error {
		if !s.has("email") {
			return errEnough
		}
		if key := loyalty.EmailKey(s.cell("email")); s.cell("customer") == "" && key != "" {
			e.holders[key] = nil
		}
		return ctx.Err()
	}, func(Finding) error { return nil }) // Check reports it
	if errors.Is(err, errEnough) {
		return nil
	}

	return err
}

// reads finds the e-mails in the file of members.
func (e *emails) reads(ctx context.Context, f File, o Options, w World, written map[string]bool) error {
	if f.Kind != "members" {
		return nil
	}

	return eachRow(source{f, o, w.Programme.Location, nil}, func(s *sheet) error {
		id, key := s.cell("customer"), loyalty.EmailKey(s.cell("email"))
		if id == "" || key == "" {
			return ctx.Err()
		}
		written[id] = true
		e.add(key, id)
		return ctx.Err()
	}, func(f Finding) error { // Check reports it
		e.cut = e.cut || f.cut
		return nil
	})
}

// add notes a member's e-mail if a row names it.
func (e *emails) add(key, id string) {
	if ids, wanted := e.holders[key]; wanted && !slices.Contains(ids, id) {
		e.holders[key] = append(ids, id)
	}
}

// member is the id of the member that a row names; empty, without a finding, if it cannot be known.
func (s *sheet) member(told *[]Finding) string {
	email := s.cell("email")
	if email == "" || s.cell("customer") != "" {
		return s.id("customer", told)
	}
	if s.emails == nil {
		return email // unused
	}

	ids := s.emails.holders[loyalty.EmailKey(email)]
	switch {
	case len(ids) == 1:
		return ids[0]
	case len(ids) > 1:
		*told = append(*told, s.finding("email", email, say("email_several", nil)))
	case !s.emails.cut:
		*told = append(*told, s.finding("email", email, say("email_unknown", nil)))
	}

	return ""
}
