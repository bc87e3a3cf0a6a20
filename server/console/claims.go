package console

import (
	"context"
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// vouched is what a provider says of a person who signed in there.
type vouched struct {
	user.Outside
	proved time.Time // when the person signed in at the provider; zero: not told
}

// redeem exchanges a code for the provider's statement on a person. It checks signature, issuer, audience, end and
// nonce, and fails with distrust if one does not hold, with errOutsideAway, or with errOutsideRole if no claim gives a
// role.
func (p *provider) redeem(ctx context.Context, code string, f flow) (v vouched, err error) {
	e, err := p.find(ctx)
	if err != nil {
		return v, away{err}
	}

	ctx = p.with(ctx)
	token, err := e.oauth.Exchange(ctx, code, oauth2.VerifierOption(f.verifier))
	if err != nil {
		return v, p.exchanged(err)
	}

	raw, _ := token.Extra("id_token").(string)
	id, err := e.verifier.Verify(ctx, raw)
	if err != nil {
		return v, distrust{err}
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(f.nonce)) != 1 {
		return v, distrust{fmt.Errorf("the nonce is another one")}
	}

	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return v, distrust{err}
	}
	if azp, there := claims["azp"]; len(id.Audience) > 1 && azp != p.ClientID || there && azp != p.ClientID {
		return v, distrust{fmt.Errorf("the token was made for %v", azp)}
	}
	if id.Subject == "" || len(id.Subject) > maxSubject {
		return v, distrust{fmt.Errorf("a subject of %d bytes", len(id.Subject))}
	}

	values := textsAt(claims, p.Claim)
	if len(values) == 0 && e.provider.UserInfoEndpoint() != "" {
		if values, err = p.askMore(ctx, e, token, id.Subject, claims); err != nil {
			return v, err
		}
	}

	grant, known := p.Mapping.Of(values)
	if !known {
		return v, errOutsideRole
	}

	v.Outside = user.Outside{
		Issuer: p.Issuer, Subject: id.Subject, Login: first(claims, "preferred_username", "email", "sub"),
		Name: first(claims, "name"), Email: first(claims, "email"), Role: grant.Role, Personal: grant.Personal,
	}

	if at, ok := claims["auth_time"].(float64); ok {
		v.proved = time.Unix(int64(at), 0)
	}

	return v, nil
}

// maxSubject is the standard's bound on a subject.
const maxSubject = 255

// askMore asks the provider for claims that are missing in the token, and adds those that it has.
func (p *provider) askMore(
	ctx context.Context, e *endpoints, token *oauth2.Token, subject string, claims map[string]any,
) ([]string, error) {
	info, err := e.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, away{err}
	}
	if info.Subject != subject {
		return nil, distrust{fmt.Errorf("the provider signed in another person")}
	}

	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return nil, distrust{err}
	}

	for name, value := range more {
		if _, there := claims[name]; !there {
			claims[name] = value
		}
	}

	return textsAt(claims, p.Claim), nil
}

// exchanged tells a code that the provider refused from a provider that cannot be reached.
func (p *provider) exchanged(err error) error {
	var said *oauth2.RetrieveError
	if asRefused(err, &said) {
		return distrust{err}
	}
	return away{err}
}

// textsAt are the texts of a claim, one or a list; path is its name, or a path into objects.
func textsAt(claims map[string]any, path string) []string {
	value, there := claims[path]
	if !there {
		name, rest, deeper := strings.Cut(path, ".")
		inner, _ := claims[name].(map[string]any)
		if !deeper || inner == nil {
			return nil
		}
		return textsAt(inner, rest)
	}

	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var texts []string
		for _, each := range v {
			if text, ok := each.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	}

	return nil
}

func first(claims map[string]any, names ...string) string {
	for _, name := range names {
		if text, _ := claims[name].(string); text != "" {
			return text
		}
	}
	return ""
}
