package api

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

// RewardView is a reward as one request sees it.
type RewardView struct {
	*reward.Reward
	status, title string
	InStock       *int64               // nil: no limit
	Outlook       *reward.ClaimOutlook // nil: the request names no customer
}

// rewardColumns are the columns to filter and sort rewards by.
var rewardColumns = map[string]list.Column[*RewardView]{
	"type":      {Of: func(v *RewardView) any { return v.Type }},
	"points":    {Of: func(v *RewardView) any { return v.Points }},
	"stores":    {Of: func(v *RewardView) any { return list.Places(v.Stores) }},
	"starts_at": {Of: func(v *RewardView) any { return MomentOrNil(v.StartsAt) }},
	"ends_at":   {Of: func(v *RewardView) any { return MomentOrNil(v.EndsAt) }},
	"status":    {Of: func(v *RewardView) any { return v.status }},
	"title":     {Of: func(v *RewardView) any { return v.title }},
}

// RewardColumnsOf adds the custom attributes that are filters of rewards.
func RewardColumnsOf(p *programme.Programme) map[string]list.Column[*RewardView] {
	return list.CustomColumns(p, RewardType, rewardColumns,
		func(v *RewardView) map[string]json.RawMessage { return v.Custom })
}

// ViewOfReward is a reward as it is at an instant, in the language of the answer.
func ViewOfReward(language *Localizer, reward *reward.Reward, at time.Time) *RewardView {
	return &RewardView{Reward: reward, status: reward.Status(at), title: language.Text(reward.Title)}
}

// RewardViews are the rewards that this customer may have, with the outlook of a claim.
func RewardViews(r *engine.Run, language *Localizer) ([]*RewardView, error) {
	var all []*RewardView
	for _, reward := range reward.RewardList(r.Programme) {
		v, err := RewardFor(r, language, reward)
		if err != nil {
			return nil, err
		}
		if v != nil {
			all = append(all, v)
		}
	}
	return all, nil
}

// RewardFor is a reward as this customer sees it; nil if it is for others.
func RewardFor(r *engine.Run, language *Localizer, offered *reward.Reward) (*RewardView, error) {
	if may, err := reward.MayHave(r, offered); err != nil || !may {
		return nil, err
	}
	v := ViewOfReward(language, offered, r.At)
	outlook, err := reward.OutlookOn(r, offered)
	if err != nil {
		return nil, err
	}
	v.Outlook = &outlook
	v.InStock, err = reward.InStock(r, offered)
	return v, err
}

// Running keeps the active rewards, unless the request filters by status.
func Running(query []list.Pair, all []*RewardView) []*RewardView {
	if asksForStatus(query) {
		return all
	}
	return slices.DeleteFunc(all, func(v *RewardView) bool { return v.status != loyalty.StatusActive })
}

// RewardEntry renders a reward. claim is the path of the operation that claims it.
func RewardEntry(p *programme.Programme, language *Localizer, v *RewardView, claim string) common.RewardEntry {
	e := common.RewardEntry{
		ID: v.ID, Type: common.RewardType(v.Type), Status: common.DateStatus(v.status), Title: v.title,
		Description: TextOrNil(language.Text(v.Description)), Image: imageSet(v.Image), Points: v.Points,
		StartsAt: InstantOrNil(v.StartsAt.Time), EndsAt: InstantOrNil(v.EndsAt.Time),
		Stores: OrEmpty(v.Stores), InStock: v.InStock,
		AdditionalProperties: CustomAttributes(language, p, RewardType, v.Custom),
	}

	o := v.Outlook
	if o == nil {
		return e
	}

	e.Claims, e.ClaimsLeft, e.LastClaimedAt = &o.Claims, o.Left, InstantOrNil(o.LastClaimedAt)
	e.UnderscoreActions = &common.RewardActions{}
	if o.Refusal == nil {
		e.UnderscoreActions.Complete = &common.NextStep{Method: http.MethodPost, URL: claim}
	} else {
		e.Obstacle = obstacle(language, o.Refusal)
	}

	return e
}

// obstacle renders the reason of a refusal.
func obstacle(language *Localizer, refusal error) *common.Obstacle {
	_, e := Envelope(language, refusal)
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
		Small:  first(i.Small, i.Medium, i.Large),
		Medium: first(i.Medium, i.Large, i.Small), Large: first(i.Large, i.Medium, i.Small),
	}
}

// RewardType is the entity type of rewards.
const RewardType = loyalty.RewardType
