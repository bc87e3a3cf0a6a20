package signing

import "time"

// Claim is a request whose headers are in order and whose signature is not verified yet. It names the key that the
// caller claims to have, so that a server can limit the body to what that key may send before reading it.
type Claim struct {
	verifier *Verifier
	work     *work
	at       time.Time
}

// Claim does every check that needs neither the body nor the key: size and target, grammar of the header, algorithm,
// scope, date, window, signed headers. It ignores the body of in. Its errors are those of Verify.
func (v *Verifier) Claim(in Incoming) (Claim, error) {
	w := workPool.Get().(*work)
	w.in = in
	at, err := v.read(w)
	if err != nil {
		w.release()
		return Claim{}, err
	}
	return Claim{v, w, at}, nil
}

// KeyID is the key that the caller claims. It shares memory with the request: clone it to keep it.
func (c Claim) KeyID() string { return c.work.auth.keyID }

// Verify checks the claim against the body and the key's secrets. Pass no secrets for an unknown key: the work is the
// same. It answers *Error where the signature is refused. It ends the claim, which must not be used again; a claim
// may also be dropped without Verify, at the cost of its memory only.
func (c Claim) Verify(body []byte, secrets []string) (Verified, error) {
	w := c.work
	defer w.release()
	w.in.Body = body
	w.hashBody()
	matched := c.verifier.match(w, secrets)
	if matched < 0 {
		return Verified{}, refused()
	}
	c.verifier.learn(w, c.at)
	return Verified{KeyID: w.auth.keyID, Secret: matched, Time: c.at, Signature: w.auth.signature,
		SignedHeaders: w.auth.signedHeaders}, nil
}
