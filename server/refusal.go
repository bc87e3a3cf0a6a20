package server

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// refusals are the statuses that are stored for an Idempotency-Key.
var refusals = []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}

// refused answers a request that its handler refused. If the handler made no event and no change, because the entity in
// the path or the body does not exist, the refusal is stored here as the engine would have stored it: a repetition gets
// the first answer, and another request under the same key is refused.
func (s *Server) refused(c *gin.Context, err error) {
	r := api.RequestOf(c)
	status, fault := api.AsFault(err)
	if r.Operation == nil || !r.Operation.Keeps || r.Decided || !slices.Contains(refusals, status) {
		s.fail(c, err)
		return
	}

	key, hash, ok := r.Idempotency(c.Request)
	if !ok {
		s.fail(c, err)
		return
	}

	r.Language.Forget() // texts from before the failure are not sent
	outcome, err := s.engine.Submit(api.Plain(c), loyalty.Submission{
		Refusal: &loyalty.Refusal{Err: fault, Version: r.Version},
		Idempotency: &loyalty.Idempotency{AnswerKey: key, Hash: hash,
			Language: r.Language.Texts, Render: func(_ loyalty.Outcome, err error) (int, []byte) {
				return api.ErrorBody(r.Language, err)
			}},
	})

	switch {
	case err != nil:
		s.fail(c, err)
	case outcome.Replayed != nil:
		c.Abort()
		if err := api.Replay(r.Language, outcome.Replayed).Write(c.Writer); err != nil {
			s.fail(c, err)
		}
	}
}
