package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// scaleLists are the lists of the documents that grow with events, customers, purchases or coupons. Lists of one
// customer are read for many customers in turn.
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
	scaleDepth   = 100_000 // entries before the page far down; in a shorter list it is the middle page
	scaleReaders = 50      // customers whose lists are read in turn
)

// pageOf is the number of entries on a page: few in lists of one customer, which are short, and fewest of coupons and
// rewards.
func pageOf(list string) int {
	switch {
	case !strings.Contains(list, "{customer}"):
		return 100
	case strings.HasSuffix(list, "/coupons"), strings.HasSuffix(list, "/rewards"):
		return 3
	}
	return 10
}

// withLimit sets the page length of a target.
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

// deepPages are the links to pages far down, in lists with several pages.
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

// follow follows links to a page far down and returns the link to it; empty if there are at most two pages. After some
// pages it continues in larger ones.
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

// middleOf is a link from the middle, but not the last one, whose page may be short.
func middleOf(links []string) string {
	if len(links) < 2 {
		return ""
	}
	return links[(len(links)-1)/2]
}

// measureList reads the pages in turn for a part of the window, over one connection.
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

	latencies, watch, err := load{s.access, readConnections, window, nil, s.machine, []*process{s.process}}.run(ctx, requests)
	if err != nil {
		return sample{}, fmt.Errorf("%w\nthe end of the server's log:\n%s", err, s.tail())
	}

	s.answered[name] = len(latencies)
	return watch.sample(latencies, 1), nil
}
