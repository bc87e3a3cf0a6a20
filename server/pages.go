package server

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
)

// pageOf reads which part of a list a request wants. It fails as list.NewPage does.
func pageOf(ctx context.Context, limit *common.Limit, offset *common.Offset, cursor *common.Cursor) (list.Page, error) {
	r, path := requestOf(ctx), ""
	if c, ok := ctx.(*gin.Context); ok {
		path, _, _ = strings.Cut(c.Request.RequestURI, "?")
	}
	return list.NewPage(path, r.query, r.fields(), r.began, limit, offset, cursor)
}

// listAnswer is the answer of a list as in the documents; the generated types are converted from it.
type listAnswer[T any] struct {
	Data     []T
	Next     *string
	Previous *string
	Time     *float64
}

// answerOf is the answer of a page.
func answerOf[T any](l list.Links[T]) listAnswer[T] {
	return listAnswer[T]{Data: l.Entries, Next: l.Next, Previous: l.Previous, Time: &l.Time}
}
