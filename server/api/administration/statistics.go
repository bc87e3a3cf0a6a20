package administration

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/gen/administration"
	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/statistics"
)

// statisticsDays is the default number of days of a statistic, statisticsMost the largest.
const (
	statisticsDays = 30
	statisticsMost = 3660
)

// GetStatistics reads figures by day. They include this server's latest refusals.
func (a *API) GetStatistics(
	ctx context.Context, in administration.GetStatisticsRequestObject,
) (administration.GetStatisticsResponseObject, error) {
	q, more, err := a.statisticsQuery(&in.Params)
	if err != nil {
		return nil, err
	}

	leave, err := a.Totals.Enter(ctx, api.RequestOf(ctx).Key.ID)
	if err != nil {
		return nil, err
	}
	defer leave()

	a.Failures.flush(api.Plain(ctx))
	answers, err := a.Statistics.Read(api.Plain(ctx), q, more...)
	if err != nil {
		return nil, err
	}

	first := &answers[0]
	of := statisticsRange(&q, q.Range, first)
	out := administration.Statistics{
		Metric: administration.StatisticsMetric(q.Metric.Name), Unit: administration.StatisticsUnit(q.Metric.Unit),
		Interval: administration.StatisticsInterval(q.Interval), TimeZone: first.Zone, At: common.Instant(first.At),
		Complete: first.Complete, Behind: first.Behind, From: of.From,
		To: of.To, Periods: of.Periods, Series: of.Series, LeftOff: of.LeftOff,
	}

	if q.By != "" {
		out.By = new(administration.StatisticsBy(q.By))
	}
	if q.Metric.State {
		out.PhotographedAt = api.InstantOrNil(first.Taken)
	}
	if len(more) > 0 {
		out.Compare = new(statisticsRange(&q, more[0], &answers[1]))
	}

	return administration.GetStatistics200JSONResponse{Data: out}, nil
}

// statisticsQuery reads the parameters; more are the ranges to compare with. Its errors name the parameter.
func (a *API) statisticsQuery(
	in *administration.GetStatisticsParams,
) (q statistics.Query, more []statistics.Range, err error) {
	refuse := func(parameter, reason string) error {
		return contract.ErrInvalidParameter.With("parameter", parameter).With("reason", reason).At(parameter)
	}
	name := "purchases"
	if in.Metric != nil {
		name = string(*in.Metric)
	}

	q.Metric, _ = statistics.Find(name) // the contract allows no other name
	q.Interval = statistics.Day
	if in.Interval != nil {
		q.Interval = statistics.Interval(*in.Interval)
	}

	if in.By != nil {
		if q.By = string(*in.By); !slices.Contains(q.Metric.By, q.By) {
			return q, nil, refuse("by", "breakdown")
		}
	}

	q.Range.Last, _ = a.Statistics.Today()
	if in.To != nil {
		if q.Range.Last, err = statistics.ParseDay(*in.To); err != nil {
			return q, nil, refuse("to", "schema")
		}
	}

	q.Range.First = q.Range.Last - statisticsDays + 1
	if in.From != nil {
		if q.Range.First, err = statistics.ParseDay(*in.From); err != nil {
			return q, nil, refuse("from", "schema")
		}
	}

	if q.Range.First > q.Range.Last || q.Range.Last-q.Range.First >= statisticsMost {
		return q, nil, refuse("from", "range")
	}
	if in.Compare == nil {
		return q, nil, nil
	}
	if *in.Compare == "previous" {
		return q, []statistics.Range{q.Range.Before()}, nil
	}

	first, err := statistics.ParseDay(*in.Compare)
	switch {
	case err != nil:
		return q, nil, refuse("compare", "schema")
	case first >= q.Range.First:
		return q, nil, refuse("compare", "range")
	}

	return q, []statistics.Range{q.Range.From(first)}, nil
}

// statisticsRange renders the figures of a range.
func statisticsRange(q *statistics.Query, r statistics.Range, a *statistics.Answer) administration.StatisticsRange {
	out := administration.StatisticsRange{
		From: dayText(r.First), To: dayText(r.Last), Periods: make([]string, len(a.Periods)),
		Series: make([]administration.StatisticsSeries, len(a.Series)), LeftOff: a.LeftOff,
	}
	for i, d := range a.Periods {
		out.Periods[i] = dayText(d)
	}

	for i := range a.Series {
		s, shown := &a.Series[i], &out.Series[i]
		shown.Total, shown.Values = statisticsValue(q.Metric.Unit, &s.Total), make([]*json.Number, len(s.Values))
		for k := range s.Values {
			shown.Values[k] = statisticsValue(q.Metric.Unit, &s.Values[k])
		}
		if q.By != "" && q.By != "currency" {
			shown.Name = &s.Key.Name
		}
		shown.Currency = api.TextOrNil(s.Key.Currency)
	}

	return out
}

// dayText writes a day of the calendar.
func dayText(d interface{ MarshalText() ([]byte, error) }) string {
	text, _ := d.MarshalText() // a day always has a text
	return string(text)
}

// ratioDecimals is the precision of ratios.
const ratioDecimals = 6

// statisticsValue writes a figure digit for digit; nil if it is not known.
func statisticsValue(unit statistics.Unit, v *statistics.Value) *json.Number {
	if !v.Known || unit == statistics.Ratio && v.Of.Sign() == 0 {
		return nil
	}
	text := v.N.String()
	switch unit {
	case statistics.Money:
		text = decimals(new(big.Rat).SetFrac(&v.N, big.NewInt(int64(money.Unit))), len("0000"))
	case statistics.Ratio:
		text = decimals(new(big.Rat).SetFrac(&v.N, &v.Of), ratioDecimals)
	}
	return new(json.Number(text))
}

// decimals renders a number with at most the given number of decimals.
func decimals(n *big.Rat, most int) string {
	return strings.TrimSuffix(strings.TrimRight(n.FloatString(most), "0"), ".")
}
