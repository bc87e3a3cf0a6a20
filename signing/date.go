package signing

import "time"

// condensed is the form of the specification's rule 4 and of every string to sign: YYYYMMDDTHHMMSSZ.
const condensed = "20060102T150405Z"

// stamp is an instant in UTC as the decimal digits YYYYMMDDhhmmss.
type stamp [14]byte

// parseDate reads a Date header in exactly three forms: condensed (the specification's), the HTTP date of RFC 1123,
// whose weekday is not compared with the date, and extended ISO 8601 with an offset. time.Parse is not used because
// it takes fractions of a second and other liberties.
func parseDate(s string) (d stamp, t time.Time, ok bool) {
	switch {
	case len(s) == 16 && s[8] == 'T' && s[15] == 'Z':
		copy(d[:8], s[:8])
		copy(d[8:], s[9:15])
	case len(s) == 29 && s[3] == ',':
		if !d.readHTTP(s) {
			return d, t, false
		}
	case len(s) >= 20 && s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[13] == ':' && s[16] == ':':
		return extendedDate(s)
	default:
		return d, t, false
	}

	t, ok = d.time()
	return d, t, ok
}

// readHTTP takes the digits of "Mon, 02 Jan 2006 15:04:05 GMT".
func (d *stamp) readHTTP(s string) bool {
	month := index3("JanFebMarAprMayJunJulAugSepOctNovDec", s[8:11]) + 1
	fixed := s[4] == ' ' && s[7] == ' ' && s[11] == ' ' && s[16] == ' ' && s[19] == ':' && s[22] == ':' && s[25:] == " GMT"
	if !fixed || month == 0 || index3("MonTueWedThuFriSatSun", s[:3]) < 0 {
		return false
	}
	copy(d[:4], s[12:16])
	d[4], d[5] = '0'+byte(month/10), '0'+byte(month%10)
	copy(d[6:8], s[5:7])
	d.readClock(s[17:25])
	return true
}

// readClock takes the digits of hh:mm:ss.
func (d *stamp) readClock(s string) {
	d[8], d[9], d[10], d[11], d[12], d[13] = s[0], s[1], s[3], s[4], s[6], s[7]
}

// index3 gives the index of a three-letter name in a list of such names without separators, or -1.
func index3(names, name string) int {
	for i := 0; i < len(names); i += 3 {
		if names[i:i+3] == name {
			return i / 3
		}
	}
	return -1
}

// extendedDate reads "2006-01-02T15:04:05" with an offset Z, +hh:mm or +hhmm (the latter is what Java writes).
func extendedDate(s string) (d stamp, t time.Time, ok bool) {
	copy(d[:4], s[:4])
	d[4], d[5], d[6], d[7] = s[5], s[6], s[8], s[9]
	d.readClock(s[11:19])
	if t, ok = d.time(); !ok || s[19:] == "Z" {
		return d, t, ok
	}

	offset, ok := parseOffset(s[19:])
	if !ok {
		return d, t, false
	}

	t = t.Add(-offset)
	if t.Year() < 0 || t.Year() > 9999 {
		return d, t, false
	}

	t.AppendFormat(d[:0], "20060102150405")
	return d, t, true
}

func parseOffset(s string) (time.Duration, bool) {
	if len(s) == 6 && s[3] == ':' {
		s = s[:3] + s[4:]
	}
	if len(s) != 5 || s[0] != '+' && s[0] != '-' || !all(s[1:], digit) {
		return 0, false
	}
	hours, minutes := two(s[1], s[2]), two(s[3], s[4])
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if s[0] == '-' {
		offset = -offset
	}
	return offset, hours < 24 && minutes < 60
}

// time refuses digits that are not in the calendar, such as 30 February, hour 24 or second 60.
func (d *stamp) time() (time.Time, bool) {
	for _, c := range d {
		if class[c]&digit == 0 {
			return time.Time{}, false
		}
	}
	year, month, day := two(d[0], d[1])*100+two(d[2], d[3]), two(d[4], d[5]), two(d[6], d[7])
	hour, minute, second := two(d[8], d[9]), two(d[10], d[11]), two(d[12], d[13])
	if month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return t, day <= 28 || t.Day() == day
}

func two(tens, ones byte) int { return int(tens-'0')*10 + int(ones-'0') }

// condensed gives the condensed form.
func (d *stamp) condensed() (form [len(condensed)]byte) {
	copy(form[:8], d[:8])
	form[8] = 'T'
	copy(form[9:15], d[8:])
	form[15] = 'Z'
	return form
}
