// Package list is pages of lists: which part of a list a request wants, the two grammars
// of its filters, and lists that are held in memory. It knows nothing of gin. README.md
// says what belongs here.
package list
