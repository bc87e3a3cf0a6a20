package signing

// Attempt is one canonical request that Verify compares the signature with.
type Attempt struct {
	// CanonicalRequest is step 1, StringToSign step 2 of the specification.
	CanonicalRequest, StringToSign string
}

// Explain lists the canonical requests and strings to sign that Verify tries for a request, in this order, for a
// developer who looks for a mismatch. It needs no key, gives the same for known and unknown ones, and holds no
// signature. For the checks before the key it answers the errors of Verify. Never show it outside development.
func (v *Verifier) Explain(in Incoming) ([]Attempt, error) {
	w := workPool.Get().(*work)
	defer w.release()
	w.in = in
	if _, err := v.read(w); err != nil {
		return nil, err
	}

	w.hashBody()
	var list []Attempt
	w.each(v.scheme.LegacyPlus, func() bool {
		w.hashCanonical()
		w.setText(v.algorithm, v.scheme.Scope)
		list = append(list, Attempt{string(w.canon), string(w.text)})
		return true
	})

	return list, nil
}
