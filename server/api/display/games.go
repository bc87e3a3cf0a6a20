package display

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// EnterContest gives a customer entries of a contest.
func (a *API) EnterContest(
	ctx context.Context, in display.EnterContestRequestObject,
) (display.EnterContestResponseObject, error) {
	data := map[string]any{"contest_id": in.ContestID}
	if in.Body.Count != nil {
		data["count"] = *in.Body.Count
	}

	return a.Submitter.SubmitFor(ctx, api.CustomerAction{
		Customer: in.CustomerID, Action: "contest_enter", Data: data,
		Body: func(_ *api.Localizer, o *loyalty.Outcome) any {
			r := o.Value.(game.ContestEntries)
			return display.EntryAnswer{Data: display.ContestEntries{
				ID: r.ID, Contest: r.Contest, Count: r.Count, Entries: r.Entries, Points: r.Points,
				Spendable: o.Customer.Figures.Spendable(),
			}}
		},
	})
}

// SpinPrizeWheel spins a prize wheel once.
func (a *API) SpinPrizeWheel(
	ctx context.Context, in display.SpinPrizeWheelRequestObject,
) (display.SpinPrizeWheelResponseObject, error) {
	return a.Submitter.SubmitFor(ctx, api.CustomerAction{
		Customer: in.CustomerID, Action: "prize_wheel_spin", Data: map[string]any{"wheel": in.WheelID},
		Body: func(language *api.Localizer, o *loyalty.Outcome) any {
			r := o.Value.(game.SpinResult)
			spin := display.Spin{
				ID: r.ID, Wheel: r.Wheel, Result: language.Text(r.Result), Type: display.SpinType(r.Type),
				Points: r.Points, Spent: r.Spent, Spendable: o.Customer.Figures.Spendable(),
			}
			if r.Claim != nil {
				spin.Reward = wonReward(a.Programme(), language, r.Claim.Reward)
				spin.Coupon = api.ClaimedCoupon(language, r.Claim.Coupon, &o.Customer)
			}
			return display.SpinAnswer{Data: spin}
		},
	})
}

// wonReward names a reward, with its title if the reward still exists.
func wonReward(p *programme.Programme, language *api.Localizer, id string) *display.WonReward {
	won := &display.WonReward{ID: id}
	if reward := reward.Rewards.Of(p)[id]; reward != nil {
		won.Title = api.TextOrNil(language.Text(reward.Title))
	}
	return won
}

// AnswerQuiz records a customer's answer to a quiz.
func (a *API) AnswerQuiz(
	ctx context.Context, in display.AnswerQuizRequestObject,
) (display.AnswerQuizResponseObject, error) {
	return a.Submitter.SubmitFor(ctx, api.CustomerAction{
		Customer: in.CustomerID, Action: "quiz_answer", Data: map[string]any{"quiz": in.QuizID, "answer": in.Body.Answer},
		Body: func(_ *api.Localizer, o *loyalty.Outcome) any {
			r := o.Value.(game.QuizResult)
			return display.QuizAnswer{Data: display.QuizResult{
				ID: r.ID, Quiz: r.Quiz, Correct: r.Correct, CorrectAnswer: r.CorrectAnswer, Points: r.Points,
				Spendable: o.Customer.Figures.Spendable(),
			}}
		},
	})
}
