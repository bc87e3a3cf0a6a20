package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// scaleLists are the lists of the documents that grow with events, customers,
// purchases or coupons. Those of one customer are asked for many customers in turn.
var scaleLists = []string{
	"/customers", "/customers?status=active", "/v1/customers",
	"/customers/-/events", "/customers/-/events?action=coupon_create",
	"/coupons", "/coupons?status=claimed", "/coupons/-/usage",
	"/customers/leaderboard", "/customers/leaderboard?period=month",
	"/customers/{customer}/events", "/customers/{customer}/transactions", "/customers/{customer}/transactions/-/search",
	"/customers/{customer}/coupons", "/customers/{customer}/rewards",
	"/v1/customers/{customer}/events", "/v1/customers/{customer}/transactions", "/v1/customers/{customer}/coupons",
}

const (
	scaleDepth   = 100_000 // entries before the page far down; of a shorter list it is the one in the middle
	scaleReaders = 50      // customers whose lists are asked in turn
)

// pageOf is how many entries a page has: of one customer's list few, because there are
// few, and fewest of coupons and rewards.
func pageOf(list string) int {
	switch {
	case !strings.Contains(list, "{customer}"):
		return 100
	case strings.HasSuffix(list, "/coupons"), strings.HasSuffix(list, "/rewards"):
		return 3
	}
	return 10
}

// withLimit sets how long the pages of a target are.
func withLimit(target, value string) (string, error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	query := u.Query()
	query.Set("limit", value)
	return u.Path + "?" + query.Encode(), nil
}

// firstPages are the first pages of a list, of one or of many customers.
func (s *site) firstPages(list string) (targets []string, err error) {
	paths := []string{list}
	if strings.Contains(list, "{customer}") {
		paths = nil
		for n := range min(scaleReaders, max(1, s.customers/20)) {
			paths = append(paths, strings.ReplaceAll(list, "{customer}", strconv.Itoa(n+1)))
		}
	}
	for _, path := range paths {
		target, err := withLimit(path, strconv.Itoa(pageOf(list)))
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// deepPages are the links to pages far down, of those lists that have several pages.
func (s *site) deepPages(ctx context.Context, list string, first []string) (targets []string, err error) {
	for _, target := range first {
		link, err := s.follow(ctx, target, pageOf(list))
		if err != nil {
			return nil, err
		}
		if link != "" {
			targets = append(targets, link)
		}
	}
	return targets, nil
}

// follow goes from link to link to a page far down and gives the link that leads there;
// empty: there are two pages at most. After some pages it goes on in larger ones.
func (s *site) follow(ctx context.Context, target string, page int) (string, error) {
	var links []string
	for reached, size := 0, page; reached < scaleDepth; {
		answer, err := s.answer(ctx, target)
		if err != nil {
			return "", err
		}
		next, _ := answer["next"].(string)
		if next == "" {
			return middleOf(links), nil
		}
		link, err := withLimit(next, strconv.Itoa(page))
		if err != nil {
			return "", err
		}
		links = append(links, link)
		reached += size
		if len(links) >= 20 {
			size = min(10*page, 1000)
		}
		if target, err = withLimit(next, strconv.Itoa(size)); err != nil {
			return "", err
		}
	}
	return links[len(links)-1], nil
}

// middleOf takes a link from the middle, but not the last one: the page that it leads to
// may be a short one.
func middleOf(links []string) string {
	if len(links) < 2 {
		return ""
	}
	return links[(len(links)-1)/2]
}

// measureList asks the pages in turn for a part of the window, over one connection.
func (s *site) measureList(ctx context.Context, name string, targets []string) (sample, error) {
	window := s.window * 2 / 5
	n := int(4000 * window.Seconds())
	if before := s.answered[name]; before > 0 {
		n = before + before/2 + 1
	}
	requests := make([][]byte, n)
	for i := range requests {
		var err error
		if requests[i], err = s.get(targets[i%len(targets)], i); err != nil {
			return sample{}, err
		}
	}
	latencies, watch, err := load{s.access, readConnections, window, nil, s.machine, s.measured()}.run(ctx, requests)
	if err != nil {
		return sample{}, fmt.Errorf("%w\nthe end of the server's log:\n%s", err, s.tail())
	}
	s.answered[name] = len(latencies)
	return watch.sample(latencies, 1), nil
}
