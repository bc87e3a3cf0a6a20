package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loyalty-platform/loyalty/server/loyalty"

	"github.com/loyalty-platform/loyalty/store/citus"
)

// MachineAway tells which submissions need a machine that is away, because it has their customer, a name or a stored
// answer of theirs. It returns nil, without calling needs, while every machine answers. Refusing these submissions
// early leaves the batch to those that can be served.
func (s batchStore) MachineAway(ctx context.Context, submissions int, needs func(i int) loyalty.Needs) []bool {
	e, spread := s.engine.(*citusEngine)
	if !spread {
		return nil
	}

	gone := e.machines.gone()
	if len(gone) == 0 {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, spreadAnswer)
	defer cancel()
	c, err := e.reads.Acquire(ctx)
	if err != nil {
		return nil // the batch finds out
	}
	defer c.Release()

	p := placing{c: c, gone: gone, away: make([]bool, submissions)}
	for i := range submissions {
		p.add(i, needs(i), e.sealer)
	}

	if err := p.find(ctx); err != nil {
		return nil
	}

	return p.away
}

// placing finds the submissions that need a machine which is away.
type placing struct {
	c    *pgxpool.Conn
	gone []int32
	away []bool // by submission

	names, answers keyed[string]
	customers      keyed[UUID]
}

// keyed are keys of rows, each with its submission.
type keyed[K comparable] struct {
	keys []K
	of   []int
}

func (k *keyed[K]) add(i int, key K) { k.keys, k.of = append(k.keys, key), append(k.of, i) }

// add notes the keys that a submission needs.
func (p *placing) add(i int, n loyalty.Needs, seal sealer) {
	for k := range n.Customers {
		c := &n.Customers[k]
		if c.ID != (loyalty.ID{}) {
			p.customers.add(i, UUID(c.ID))
		} else if c.Ref != (loyalty.Name{}) {
			p.names.add(i, c.Ref.Value)
		}

		for _, value := range c.Transactions {
			p.names.add(i, value)
		}

		for _, code := range c.Coupons {
			p.names.add(i, loyalty.CodeName(code).Value)
		}

		for _, name := range c.Names {
			p.names.add(i, name.Value)
		}
	}

	for _, a := range n.Answers {
		p.answers.add(i, seal.answerName(a))
	}
}

// find asks the coordinator where the keys are, and the machines that answer for the owners of the names.
func (p *placing) find(ctx context.Context) error {
	if err := onGone(ctx, p, "text", "names", &p.names); err != nil {
		return err
	}
	if err := onGone(ctx, p, "text", "answers", &p.answers); err != nil {
		return err
	}
	if err := p.owners(ctx); err != nil {
		return err
	}
	return onGone(ctx, p, "uuid", "balances", &p.customers)
}

// onGone marks the submissions whose keys of a table are on a machine that is away.
func onGone[K comparable](ctx context.Context, p *placing, kind, table string, k *keyed[K]) error {
	if len(k.keys) == 0 {
		return nil
	}
	rows, err := p.c.Query(ctx, fmt.Sprintf(`SELECT k.at::int - 1 FROM unnest($1::%s[]) WITH ORDINALITY AS k(value, at)
 JOIN pg_dist_placement p ON p.shardid = get_shard_id_for_distribution_column('%s', k.value) WHERE p.groupid = ANY ($2)`, kind, table), k.keys, p.gone)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int])
	for _, at := range list {
		p.away[k.of[at]] = true
	}
	return err
}

// owners finds the owners of the names of unmarked submissions, whose machines answer.
func (p *placing) owners(ctx context.Context) error {
	of := map[string][]int{}
	var values []string
	for at, value := range p.names.keys {
		if i := p.names.of[at]; !p.away[i] {
			of[value] = append(of[value], i)
			values = append(values, value)
		}
	}

	if len(values) == 0 {
		return nil
	}

	rows, err := p.c.Query(ctx, fmt.Sprintf(`SELECT value, owner FROM names WHERE value = ANY ($1) AND kind <> %d`, loyalty.NameCoupon), values)
	if err != nil {
		return err
	}

	var value string
	var owner UUID
	_, err = pgx.ForEachRow(rows, []any{&value, &owner}, func() error {
		for _, i := range of[value] {
			p.customers.add(i, owner)
		}
		return nil
	})

	return err
}

func (e *citusEngine) misplaced(ctx context.Context) ([]string, error) {
	return citus.Misplaced(ctx, e.rows)
}
