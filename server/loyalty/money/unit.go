package money

import "strings"

// fewDigits are the currencies of ISO 4217 whose number of decimal digits is not two.
var fewDigits = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
	"UYI": 0, "VND": 0, "VUV": 0,
	"XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// Smallest returns the smallest amount of a currency that can be paid (ISO 4217). A currency that the standard does not
// list has two decimals, as most have.
func Smallest(currency string) Amount {
	digits, known := fewDigits[strings.ToUpper(strings.TrimSpace(currency))]
	if !known {
		digits = 2
	}
	unit := Unit
	for range digits {
		unit /= 10
	}
	return unit
}
