package loyalty

// ByCursor says whether pages of the list have a place of their own: by creation,
// either way, they have.
func (q CustomerQuery) ByCursor() bool {
	return len(q.Sort) == 0 || len(q.Sort) == 1 && q.Sort[0].Field == "created_at"
}
