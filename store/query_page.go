package store

import (
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// maxRead bounds the rows that are read for a page, in bytes. It is several pages, so that rows left out here are
// beyond the end of the page by any measure: the handler cuts the page itself (loyalty.MaxPage), and sees that there
// is more.
const maxRead = 4 * loyalty.MaxPage

// readPage reads the rows of a page one by one, up to the row that exceeds maxRead.
func readPage[Row any](q *gorm.DB) ([]Row, error) {
	rows, err := q.Model(new(Row)).Rows()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	var list []Row
	for before, last := 0, 0; before <= maxRead && rows.Next(); {
		var row Row
		if err := q.ScanRows(rows, &row); err != nil {
			return nil, err
		}
		list, before = append(list, row), before+last
		last = loyalty.Weight(&row)
	}

	return list, rows.Err()
}
