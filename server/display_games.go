package server

import (
	"context"

	"github.com/loyalty-platform/loyalty/gen/display"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// EnterContest gives a customer entries of a contest.
func (a *displayAPI) EnterContest(ctx context.Context, in display.EnterContestRequestObject) (display.EnterContestResponseObject, error) {
	data := map[string]any{"contest_id": in.ContestID}
	if in.Body.Count != nil {
		data["count"] = *in.Body.Count
	}

	return a.submitter.submitFor(ctx, customerAction{
		customer: in.CustomerID, action: "contest_enter", data: data,
		body: func(_ *tongue, o *loyalty.Outcome) any {
			r := o.Value.(game.ContestEntries)
			return display.EntryAnswer{Data: display.ContestEntries{
				ID: r.ID, Contest: r.Contest, Count: r.Count, Entries: r.Entries, Points: r.Points,
				Spendable: o.Customer.Figures.Spendable(),
			}}
		},
	})
}

// SpinPrizeWheel spins a prize wheel once.
func (a *displayAPI) SpinPrizeWheel(ctx context.Context, in display.SpinPrizeWheelRequestObject) (display.SpinPrizeWheelResponseObject, error) {
	return a.submitter.submitFor(ctx, customerAction{
		customer: in.CustomerID, action: "prize_wheel_spin", data: map[string]any{"wheel": in.WheelID},
		body: func(language *tongue, o *loyalty.Outcome) any {
			r := o.Value.(game.SpinResult)
			spin := display.Spin{
				ID: r.ID, Wheel: r.Wheel, Result: language.text(r.Result), Type: display.SpinType(r.Type),
				Points: r.Points, Spent: r.Spent, Spendable: o.Customer.Figures.Spendable(),
			}
			if r.Claim != nil {
				spin.Reward = wonReward(a.programme(), language, r.Claim.Reward)
				spin.Coupon = claimedCoupon(language, r.Claim.Coupon, &o.Customer)
			}
			return display.SpinAnswer{Data: spin}
		},
	})
}

// wonReward names a reward, with its title if the reward still exists.
func wonReward(p *programme.Programme, language *tongue, id string) *display.WonReward {
	won := &display.WonReward{ID: id}
	if reward := reward.Rewards.Of(p)[id]; reward != nil {
		won.Title = textOrNil(language.text(reward.Title))
	}
	return won
}

// AnswerQuiz records a customer's answer to a quiz.
func (a *displayAPI) AnswerQuiz(ctx context.Context, in display.AnswerQuizRequestObject) (display.AnswerQuizResponseObject, error) {
	return a.submitter.submitFor(ctx, customerAction{
		customer: in.CustomerID, action: "quiz_answer", data: map[string]any{"quiz": in.QuizID, "answer": in.Body.Answer},
		body: func(_ *tongue, o *loyalty.Outcome) any {
			r := o.Value.(game.QuizResult)
			return display.QuizAnswer{Data: display.QuizResult{
				ID: r.ID, Quiz: r.Quiz, Correct: r.Correct, CorrectAnswer: r.CorrectAnswer, Points: r.Points,
				Spendable: o.Customer.Figures.Spendable(),
			}}
		},
	})
}
