package action

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// prizeWheelSpinData are the attributes that the operation sends.
type prizeWheelSpinData struct {
	Wheel string
}

// spinRecord are the attributes of prize_wheel_spin, and those of wheel_spin.
type spinRecord struct {
	Wheel  string `json:"wheel,omitempty"`
	Result string `json:"result"`
	Type   string `json:"type"`
	Points *int64 `json:"points,omitempty"` // points won
}

// prize_wheel_spin spins a prize wheel for its points and gives the prize, with a wheel_spin that records the result.
// It answers loyalty.SpinResult.
var prizeWheelSpin = engine.Action[prizeWheelSpinData]{
	Name: "prize_wheel_spin", Standing: engine.Earner,
	Needs: func(_ prizeWheelSpinData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.OpenLots, loyalty.Kinds(loyalty.ProgressWheel)
	},
	Apply: applyPrizeWheelSpin,
}

// applyPrizeWheelSpin pays first: the prize must not pay for its own spin. The limit is counted last, from what was
// read before, because a prize does not touch it.
func applyPrizeWheelSpin(r *engine.Run, d prizeWheelSpinData) error {
	w, p, err := game.MaySpin(r, d.Wheel)
	if err != nil {
		return err
	}
	if _, err := pay(r, w.Points); err != nil {
		return err
	}
	// the seed was fixed when the submission arrived: deciding it again after a conflict must not spin again
	if err := spin(r, w, rand.New(engine.RandomFor(r, "wheel")).Int64N); err != nil {
		return err
	}
	p.Spin(w, r.At, r.Programme.Location)
	return r.SetProgress(r.Event, loyalty.ProgressKey{Kind: loyalty.ProgressWheel, Key: w.ID}, p, time.Time{})
}

// spin gives the prize that the wheel chose and records it.
func spin(r *engine.Run, w *game.Wheel, random func(n int64) int64) error {
	// derived before the prize, so that the effects of the prize come after it in the journal
	result := r.Derive(r.Event, "wheel_spin", nil)
	won, claim, err := game.Prize(r, r.Event, w, random)
	if err != nil {
		return err
	}

	told := spinRecord{Wheel: w.ID, Result: won.Label.In(r.Programme.Language.Default), Type: won.Type}
	if won.Type == game.OptionPoints {
		told.Points = &won.Points
		if err := win(r, won.Points, "the wheel "+w.ID); err != nil {
			return err
		}
		r.Event.Shown(won.Points - w.Points)
	}

	r.Record(told)
	// the wheel is named by the parent event
	told.Wheel = ""
	if result.Data, err = json.Marshal(told); err != nil {
		return err
	}

	r.Value = game.SpinResult{
		ID: r.Event.ID, Wheel: w.ID, Result: won.Label, Type: won.Type, Points: deref(told.Points),
		Spent: w.Points, Claim: claim,
	}
	return nil
}
