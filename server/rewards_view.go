package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// rewardView is a reward as one request sees it.
type rewardView struct {
	*reward.Reward
	status, title string
	inStock       *int64               // nil: no limit
	outlook       *reward.ClaimOutlook // nil: the request names no customer
}

// rewardColumns are the columns to filter and sort rewards by.
var rewardColumns = map[string]list.Column[*rewardView]{
	"type":      {Of: func(v *rewardView) any { return v.Type }},
	"points":    {Of: func(v *rewardView) any { return v.Points }},
	"stores":    {Of: func(v *rewardView) any { return list.Places(v.Stores) }},
	"starts_at": {Of: func(v *rewardView) any { return momentOrNil(v.StartsAt) }},
	"ends_at":   {Of: func(v *rewardView) any { return momentOrNil(v.EndsAt) }},
	"status":    {Of: func(v *rewardView) any { return v.status }},
	"title":     {Of: func(v *rewardView) any { return v.title }},
}

// rewardColumnsOf adds the custom attributes that are filters of rewards.
func rewardColumnsOf(p *programme.Programme) map[string]list.Column[*rewardView] {
	return list.CustomColumns(p, rewardType, rewardColumns, func(v *rewardView) map[string]json.RawMessage { return v.Custom })
}

func viewOfReward(language *tongue, reward *reward.Reward, at time.Time) *rewardView {
	return &rewardView{Reward: reward, status: reward.Status(at), title: language.text(reward.Title)}
}

// rewardViews are the rewards that this customer may have, with the outlook of a claim.
func rewardViews(r *engine.Run, language *tongue) ([]*rewardView, error) {
	var all []*rewardView
	for _, reward := range reward.RewardList(r.Programme) {
		v, err := rewardFor(r, language, reward)
		if err != nil {
			return nil, err
		}
		if v != nil {
			all = append(all, v)
		}
	}
	return all, nil
}

// rewardFor is a reward as this customer sees it; nil if it is for others.
func rewardFor(r *engine.Run, language *tongue, offered *reward.Reward) (*rewardView, error) {
	if may, err := reward.MayHave(r, offered); err != nil || !may {
		return nil, err
	}
	v := viewOfReward(language, offered, r.At)
	outlook, err := reward.OutlookOn(r, offered)
	if err != nil {
		return nil, err
	}
	v.outlook = &outlook
	v.inStock, err = reward.InStock(r, offered)
	return v, err
}

// running keeps the active rewards, unless the request filters by status.
func running(query []list.Pair, all []*rewardView) []*rewardView {
	if asksForStatus(query) {
		return all
	}
	return slices.DeleteFunc(all, func(v *rewardView) bool { return v.status != loyalty.StatusActive })
}

// rewardEntry renders a reward. claim is the path of the operation that claims it.
func rewardEntry(p *programme.Programme, language *tongue, v *rewardView, claim string) common.RewardEntry {
	e := common.RewardEntry{
		ID: v.ID, Type: common.RewardType(v.Type), Status: common.DateStatus(v.status), Title: v.title,
		Description: textOrNil(language.text(v.Description)), Image: imageSet(v.Image), Points: v.Points,
		StartsAt: instantOrNil(v.StartsAt.Time), EndsAt: instantOrNil(v.EndsAt.Time),
		Stores: orEmpty(v.Stores), InStock: v.inStock,
		AdditionalProperties: customAttributes(language, p, rewardType, v.Custom),
	}

	o := v.outlook
	if o == nil {
		return e
	}

	e.Claims, e.ClaimsLeft, e.LastClaimedAt = &o.Claims, o.Left, instantOrNil(o.LastClaimedAt)
	e.UnderscoreActions = &common.RewardActions{}
	if o.Refusal == nil {
		e.UnderscoreActions.Complete = &common.NextStep{Method: http.MethodPost, URL: claim}
	} else {
		e.Obstacle = obstacle(language, o.Refusal)
	}

	return e
}

// obstacle renders the reason of a refusal.
func obstacle(language *tongue, refusal error) *common.Obstacle {
	_, e := envelope(language, refusal)
	return &common.Obstacle{Code: e.Code, Message: e.Message}
}

// imageSet fills missing sizes with the next existing ones; nil if there is no picture.
func imageSet(i reward.Image) *common.ImageSet {
	first := func(sizes ...string) string {
		at := slices.IndexFunc(sizes, func(size string) bool { return size != "" })
		if at < 0 {
			return ""
		}
		return sizes[at]
	}
	if i == (reward.Image{}) {
		return nil
	}
	return &common.ImageSet{
		Small: first(i.Small, i.Medium, i.Large), Medium: first(i.Medium, i.Large, i.Small), Large: first(i.Large, i.Medium, i.Small),
	}
}

// rewardType is the entity type of rewards.
const rewardType = loyalty.RewardType
