package store

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/citus"
)

// spreadText is a statement for rows that are spread over machines. It is derived from the statement's body on first
// use, by three rules. Each table names the wanted keys explicitly, because Citus does not derive them from a join
// with v and would ask every machine. A single row travels as VALUES, which costs a fraction of an INSERT … SELECT;
// where rows may exist already, every row travels so. And this process counts the rows that a guard met, because
// counting them in SQL would send them through the coordinator.
type spreadText[T any] struct {
	once   sync.Once
	fields []field[T] // instead of the statement's own
	body   string     // likewise

	many, alone string
	values      []field[T] // of alone
	each        bool       // each row travels alone
	ordered     bool       // likewise for few rows, so that they are locked in their order
}

// onCitus gives a statement another body and other fields on Citus, where rows of other machines are resolved before
// and named by their ids.
func (s *statement[T]) onCitus(body string, fields ...field[T]) *statement[T] {
	s.spread.body, s.spread.fields = body, fields
	return s
}

// orderedRows is how many rows count as few. Written one by one, each costs a statement on its machine; many rows
// together cost one for each part of the table that they are in. Large batches rarely meet, and Citus ends one that
// locks in another order after two seconds, to be retried.
const orderedRows = 8

// orderedOnCitus writes few rows one after the other, in the order of locks. A statement over several parts of a
// table takes its locks in an order of its own, and Citus needs seconds to detect a deadlock.
func (s *statement[T]) orderedOnCitus() *statement[T] {
	s.spread.ordered = true
	return s
}

// spreadOut adds the call to a batch of a database that is spread over machines.
func (c *call[T]) spreadOut(b *pgx.Batch) {
	t := c.spread
	t.once.Do(func() { t.make(c.statement) })
	if t.ordered && len(c.rows) <= orderedRows {
		for i := range c.rows {
			c.counted(b.Queue(t.many, arraysOf(t.fields, c.rows[i:i+1])...), 1)
		}
		return
	}

	if t.alone == "" || !t.each && len(c.rows) > 1 {
		q := b.Queue(t.many, arraysOf(t.fields, c.rows)...)
		c.counted(q, len(c.rows))
		return
	}

	for i := range c.rows {
		args := make([]any, len(t.values))
		for k, f := range t.values {
			args[k] = f.get(&c.rows[i])
		}
		c.counted(b.Queue(t.alone, args...), 1)
	}
}

// counted compares how many rows a guarded statement met with how many it should have met.
func (c *call[T]) counted(q *pgx.QueuedQuery, want int) {
	c.answered(q)
	if !c.guarded {
		return
	}
	q.Exec(func(tag pgconn.CommandTag) error {
		if met := tag.RowsAffected(); met != int64(want) {
			return fmt.Errorf("%w: a guarded write met %d of %d rows", loyalty.ErrBatchConflict, met, want)
		}
		return nil
	})
}

var (
	// insertion matches a statement that inserts columns of v as they are.
	insertion = regexp.MustCompile(`(?s)^(INSERT INTO (\w+) \(([^)]*)\))\s+SELECT (\*|[\w., ]+?) FROM v(?: WHERE (?:true|v\.slot >= 0))?(\s+ON CONFLICT .*)?$`)
	// among and matching match the two ways to delete rows of v.
	among    = regexp.MustCompile(`(?s)^DELETE FROM (\w+) WHERE \(?([\w, ]+?)\)? IN\s*\(SELECT ([\w, ]+) FROM v\)$`)
	matching = regexp.MustCompile(`(?s)^DELETE FROM (\w+) WHERE EXISTS \(SELECT 1 FROM v WHERE (.*)\)$`)
	// tablesOfText matches the tables of a statement, with their aliases.
	tablesOfText = regexp.MustCompile(`\b(JOIN|UPDATE|DELETE FROM) (\w+)(?: AS)?(?: (\w+))?( ON )?`)
	insideOf     = regexp.MustCompile(`\bFROM (\w+) (\w+)\s+WHERE `)
	equalities   = regexp.MustCompile(`(\w+\.\w+) = (\w+\.\w+)`)
)

func (t *spreadText[T]) make(s *statement[T]) {
	body := s.body
	if t.body != "" {
		body = t.body
	} else {
		t.fields = s.fields
	}
	if m := insertion.FindStringSubmatch(body); m != nil {
		t.insertAlone(m)
	}
	t.many = withArrays(t.fields) + t.bind(using(body))
}

// insertAlone makes the statement that inserts one row.
func (t *spreadText[T]) insertAlone(m []string) {
	columns := strings.Split(m[4], ", ")
	if m[4] == "*" {
		columns = strings.Split(fieldNames(t.fields), ", ")
	}
	places := make([]string, len(columns))
	for i, c := range columns {
		k := slices.IndexFunc(t.fields, func(f field[T]) bool { return f.name == strings.TrimPrefix(c, "v.") })
		t.values = append(t.values, t.fields[k])
		places[i] = "$" + strconv.Itoa(i+1) + "::" + t.fields[k].pg
	}
	key, _ := citus.Key(m[2])
	t.alone, t.each = m[1]+" VALUES ("+strings.Join(places, ", ")+")"+m[5], key != "" && (m[5] != "" || key != customerKeyOn(m[2]))
}

// customerKeyOn is the key column of a customers' table. A concurrent insert for the same customer is detected by the
// customer's guard. Other keys rely on their own uniqueness, and an INSERT … SELECT reports its violation with no
// usable error.
func customerKeyOn(table string) string {
	if table == "customers" {
		return "id"
	}
	return "customer_id"
}

// using is a DELETE with v as a second table.
func using(body string) string {
	if m := matching.FindStringSubmatch(body); m != nil {
		return "DELETE FROM " + m[1] + " USING v WHERE " + m[2]
	}
	m := among.FindStringSubmatch(body)
	if m == nil {
		return body
	}
	columns, theirs := strings.Split(m[2], ", "), strings.Split(m[3], ", ")
	for i, c := range columns {
		columns[i] = m[1] + "." + c + " = v." + theirs[i]
	}
	return "DELETE FROM " + m[1] + " USING v WHERE " + strings.Join(columns, " AND ")
}

// bind makes each spread table name the wanted keys.
func (t *spreadText[T]) bind(body string) string {
	wanted := wantedKeys(body)
	end := ""
	body = replaceAll(tablesOfText, body, func(m []string) string {
		key, _ := citus.Key(m[2])
		alias := m[3]
		if alias == "" || alias == "USING" || alias == "SET" {
			alias = m[2]
		}

		at := slices.IndexFunc(t.fields, func(f field[T]) bool { return f.name == wanted[alias+"."+key] })
		if key == "" || at < 0 {
			return m[0]
		}

		condition := alias + "." + key + " = ANY ($" + strconv.Itoa(at+1) + "::" + t.fields[at].pg + "[])"
		switch {
		case m[1] != "JOIN":
			end = " AND " + condition
		case m[4] != "":
			return m[0] + condition + " AND "
		}

		return m[0]
	})

	body = replaceAll(insideOf, body, func(m []string) string { // a subquery for each row
		key, _ := citus.Key(m[1])
		at := slices.IndexFunc(t.fields, func(f field[T]) bool { return f.name == wanted[m[2]+"."+key] })
		if key == "" || at < 0 {
			return m[0]
		}
		return m[0] + m[2] + "." + key + " = ANY ($" + strconv.Itoa(at+1) + "::" + t.fields[at].pg + "[]) AND "
	})

	return body + end
}

// wantedKeys maps columns to the column of v that they are equal to, directly or through others.
func wantedKeys(body string) map[string]string {
	wanted := map[string]string{}
	pairs := equalities.FindAllStringSubmatch(body, -1)
	for range pairs {
		for _, p := range pairs {
			for _, way := range [][2]string{{p[1], p[2]}, {p[2], p[1]}} {
				if name, ours := strings.CutPrefix(way[1], "v."); ours {
					wanted[way[0]] = name
				} else if name, known := wanted[way[1]]; known && wanted[way[0]] == "" && !strings.HasPrefix(way[0], "v.") {
					wanted[way[0]] = name
				}
			}
		}
	}

	return wanted
}

// replaceAll replaces each match by a function of its parts.
func replaceAll(pattern *regexp.Regexp, text string, by func([]string) string) string {
	return pattern.ReplaceAllStringFunc(text, func(found string) string { return by(pattern.FindStringSubmatch(found)) })
}
