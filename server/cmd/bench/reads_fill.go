package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// readsFill makes the journal to read; see sql/reads.sql.
//
//go:embed sql/reads.sql
var readsFill string

// farDown is the number of the page, of a hundred events each, that counts as far down a list.
const farDown = 1000

// startReads starts the program, gives it customers and rewards through its own API, and the rest of its history in
// SQL. It fails if an answer over HTTP lacks rows of the SQL result.
func startReads(ctx context.Context, o options, m *machine, c *cluster) (*reads, error) {
	const database = "reads"
	if err := c.exec(ctx, "postgres", "CREATE DATABASE "+database); err != nil {
		return nil, err
	}
	program, err := newServer(ctx, o, m, c.url(database), rewardsOffered()...)
	if err != nil {
		return nil, err
	}
	s := &reads{server: program, regulars: max(o.customers/20, 1)}
	if err := s.fill(ctx, o, c, database); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// rewardsOffered are twelve rewards, some of them within reach of a customer with points.
func rewardsOffered() (all []entity) {
	for i := range 12 {
		id := "reward-" + strconv.Itoa(i)
		body, _ := json.Marshal(map[string]any{ // texts and numbers can always be written
			"id": id, "title": map[string]string{"en": "Reward " + strconv.Itoa(i), "hu": strconv.Itoa(i) + ". jutalom"},
			"type": "points", "award": 10,
			"points": 100 << (i % 8), "stock": 100_000, "max_claims": 5,
		})
		all = append(all, entity{loyalty.RewardType, body})
	}
	return all
}

func (s *reads) fill(ctx context.Context, o options, c *cluster, database string) (err error) {
	if _, err := s.answer(ctx, "/customers/leaderboard"); err != nil { // makes the board, while it is empty
		return err
	}

	fill := strings.NewReplacer("$events", strconv.Itoa(o.events), "$customers", strconv.Itoa(o.customers)).
		Replace(readsFill)
	if err := c.exec(ctx, database, fill, "VACUUM ANALYZE", "CHECKPOINT"); err != nil {
		return err
	}
	if s.pool, err = pgxpool.New(ctx, c.url(database)+"&pool_max_conns="+strconv.Itoa(readConnections)); err != nil {
		return err
	}
	if err := s.walk(ctx, min(farDown, o.events/200)); err != nil {
		return err
	}

	for _, r := range readList {
		if err := s.agree(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}

	return nil
}

// walk follows the links down to a page and stores where it begins.
func (s *reads) walk(ctx context.Context, page int) error {
	skip := (page - 1) * 100
	place := "SELECT recorded_at::text || ', ''' || id::text || '''' FROM events ORDER BY recorded_at DESC, id DESC OFFSET $1 LIMIT 1"
	if err := s.pool.QueryRow(ctx, place, skip-1).Scan(&s.deepPlace); err != nil {
		return err
	}

	for target := "/customers/-/events?limit=" + strconv.Itoa(min(skip, 1000)); ; {
		answer, err := s.answer(ctx, target)
		if err != nil {
			return err
		}

		next, _ := answer["next"].(string)
		link, err := url.Parse(next)
		if err != nil {
			return err
		}

		query := link.Query()
		reached, err := strconv.Atoi(query.Get("offset"))
		if err != nil {
			return fmt.Errorf("the list ends before page %d: %q", page, next)
		}

		query.Set("limit", strconv.Itoa(max(min(skip-reached, 1000), 100)))
		if target = link.Path + "?" + query.Encode(); reached >= skip {
			s.deep = target
			return nil
		}
	}
}

// agree compares the number of rows over HTTP and in SQL for a few customers.
func (s *reads) agree(ctx context.Context, r read) error {
	for range 3 {
		customer := s.regular()
		want, err := s.rows(ctx, r, customer)
		if err != nil {
			return err
		}
		answer, err := s.answer(ctx, s.target(r, customer))
		if err != nil {
			return err
		}
		if have := entriesOf(answer, r.list); have != want || want == 0 {
			return fmt.Errorf("HTTP gives %d entries and SQL %d rows", have, want)
		}
	}

	return nil
}

// entriesOf counts the entries at a path of properties; an answer without a list counts as one.
func entriesOf(answer map[string]any, list string) int {
	if list == "" {
		return 1
	}
	var at any = answer
	for name := range strings.SplitSeq(list, ".") {
		properties, _ := at.(map[string]any)
		at = properties[name]
	}
	entries, _ := at.([]any)
	return len(entries)
}

func (s *reads) close() error {
	if s.pool != nil {
		s.pool.Close()
	}
	return s.server.close()
}
