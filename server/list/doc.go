// Package list makes pages of lists: which part of a list a request wants, the two grammars of filters, and lists held
// in memory. It does not know gin. README.md says what belongs here.
package list
