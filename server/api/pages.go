package api

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
)

// PageOf reads which part of a list a request wants. It fails as list.NewPage does.
func PageOf(ctx context.Context, limit *common.Limit, offset *common.Offset, cursor *common.Cursor) (list.Page, error) {
	r, path := RequestOf(ctx), ""
	if c, ok := ctx.(*gin.Context); ok {
		path, _, _ = strings.Cut(c.Request.RequestURI, "?")
	}
	return list.NewPage(path, r.Query, r.Fields(), r.Began, limit, offset, cursor)
}

// listAnswer is the answer of a list as in the documents; the generated types are converted from it.
type listAnswer[T any] struct {
	Data     []T
	Next     *string
	Previous *string
	Time     *float64
}

// AnswerOf is the answer of a page.
func AnswerOf[T any](l list.Links[T]) listAnswer[T] {
	return listAnswer[T]{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}
}
