package loyalty

// Failures of users and their sign-in.
var (
	ErrRoleNeeded      = NewError(Forbidden, 190640, "role_needed", "role")
	ErrConfirmNeeded   = NewError(Forbidden, 190641, "confirmation_needed")
	ErrReasonNeeded    = NewError(Refused, 190642, "reason_needed", "action")
	ErrUserNotFound    = NewError(NotFound, 190643, "user_not_found")
	ErrLoginTaken      = NewError(Conflict, 190644, "login_taken")
	ErrLastOwner       = NewError(Refused, 190645, "last_owner")
	ErrUserDisabled    = NewError(Refused, 190646, "user_disabled")
	ErrSessionNotFound = NewError(NotFound, 190647, "session_not_found")
	ErrPasswordWeak    = NewError(Refused, 190648, "password_weak", "limit")
	ErrPasswordLong    = NewError(Refused, 190649, "password_too_long", "limit")
	ErrCodeWrong       = NewError(Refused, 190650, "second_factor_wrong")
	ErrOutsideTaken    = NewError(Refused, 190652, "outside_taken")
	ErrPasswordOutside = NewError(Refused, 190653, "password_outside")
	ErrPasskeyWrong    = NewError(Refused, 190654, "passkey_wrong")
	ErrPasskeyUnknown  = NewError(NotFound, 190655, "passkey_unknown")
	ErrPasskeyMany     = NewError(Refused, 190656, "passkey_many", "limit")
	ErrPasskeyOutside  = NewError(Refused, 190657, "passkey_outside")
	ErrPersonalNeeded  = NewError(Forbidden, 190651, "personal_needed")
)
