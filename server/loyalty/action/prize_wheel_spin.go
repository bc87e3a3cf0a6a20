package action

import (
	crypto "crypto/rand"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// prizeWheelSpinData are the attributes that the operation sends. chance decides
// the spin. It is drawn once, when the spin arrives: a spin that is decided again,
// because more had to be loaded or another writer was faster, must not get another
// chance, or what is easier to give would come up more often than its weight says.
type prizeWheelSpinData struct {
	Wheel  string
	chance [32]byte
}

// UnmarshalJSON reads what was sent and draws the chance, from the system's
// secure source.
func (d *prizeWheelSpinData) UnmarshalJSON(raw []byte) error {
	var sent struct {
		Wheel string `json:"wheel"`
	}
	if err := json.Unmarshal(raw, &sent); err != nil {
		return err
	}
	d.Wheel = sent.Wheel
	_, err := crypto.Read(d.chance[:])
	return err
}

// random gives the numbers of the spin, always the same ones: those of ChaCha8,
// which cannot be told from chance without its key.
func (d *prizeWheelSpinData) random() func(n int64) int64 {
	return rand.New(rand.NewChaCha8(d.chance)).Int64N
}

// spinRecord are the attributes of prize_wheel_spin, and those of wheel_spin.
type spinRecord struct {
	Wheel  string `json:"wheel,omitempty"`
	Result string `json:"result"`
	Type   string `json:"type"`
	Points *int64 `json:"points,omitempty"` // that were won
}

// prize_wheel_spin spins a prize wheel for its points and gives what comes up,
// with a wheel_spin that tells the result. It answers loyalty.SpinResult.
var prizeWheelSpin = engine.Action[prizeWheelSpinData]{
	Name: "prize_wheel_spin", Standing: engine.Earner,
	Needs: func(_ prizeWheelSpinData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.OpenLots, loyalty.Kinds(loyalty.ProgressWheel)
	},
	Apply: applyPrizeWheelSpin,
}

// applyPrizeWheelSpin pays first: what the wheel brings must not pay for its own spin. The limit
// is counted last, on what was read before, because a prize does not touch it.
func applyPrizeWheelSpin(r *engine.Run, d prizeWheelSpinData) error {
	w, p, err := game.MaySpin(r, d.Wheel)
	if err != nil {
		return err
	}
	if _, err := pay(r, w.Points); err != nil {
		return err
	}
	if err := spin(r, w, d.random()); err != nil {
		return err
	}
	p.Spin(w, r.At, r.Programme.Location)
	return r.SetProgress(r.Event, loyalty.ProgressKey{Kind: loyalty.ProgressWheel, Key: w.ID}, p, time.Time{})
}

// spin gives what comes up and tells it.
func spin(r *engine.Run, w *game.Wheel, random func(n int64) int64) error {
	result := r.Derive(r.Event, "wheel_spin", nil)
	won, claim, err := game.Prize(r, r.Event, w, random)
	if err != nil {
		return err
	}
	told := spinRecord{Wheel: w.ID, Result: won.Label.In(r.Programme.Language.Default), Type: won.Type}
	if won.Type == game.OptionPoints {
		told.Points = &won.Points
		if err := win(r, won.Points); err != nil {
			return err
		}
		r.Event.Shown(won.Points - w.Points)
	}
	r.Record(told)
	told.Wheel = ""
	if result.Data, err = json.Marshal(told); err != nil {
		return err
	}
	r.Value = game.SpinResult{
		ID: r.Event.ID, Wheel: w.ID, Result: won.Label, Type: won.Type, Points: deref(told.Points), Spent: w.Points, Claim: claim,
	}
	return nil
}
