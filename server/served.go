package server

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// served is the list of routes, to find the verbs of a path: gin's own answer mixes up paths with a common prefix.
type served []servedRoute

type servedRoute struct {
	verb     string
	segments []string // a segment that begins with a colon is a parameter
}

func servedBy(routes gin.RoutesInfo) served {
	all := make(served, len(routes))
	for i, r := range routes {
		all[i] = servedRoute{r.Method, strings.Split(r.Path, "/")}
	}
	return all
}

// verbs lists the verbs of a path.
func (s served) verbs(path string) (verbs []string) {
	segments := strings.Split(path, "/")
	for _, r := range s {
		if r.fits(segments) && !slices.Contains(verbs, r.verb) {
			verbs = append(verbs, r.verb)
		}
	}
	slices.Sort(verbs)
	return verbs
}

func (r servedRoute) fits(segments []string) bool {
	return slices.EqualFunc(r.segments, segments, func(pattern, segment string) bool {
		if strings.HasPrefix(pattern, ":") {
			return segment != ""
		}
		return pattern == segment
	})
}
