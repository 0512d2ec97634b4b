package entries

import (
	"cmp"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/panes/kit/text"
)

// A Column is a sort criterion for the entries of a folder.
type Column int

// The columns, in the order of Next.
const (
	ByName Column = iota
	BySize
	ByTime
	ByExtension
	columns
)

func (c Column) String() string {
	return [columns]string{"name", "size", "time", "extension"}[c]
}

// Next returns the column after c.
func (c Column) Next() Column { return (c + 1) % columns }

// An Order selects and sorts the entries of a folder.
type Order struct {
	By       Column
	Reversed bool
	Hidden   bool   // include names starting with a dot
	Filter   string // words the name must contain, ignoring case; !word: must not
}

// SortBy sets the column to sort by. If c is that column already, it reverses the order.
func (o *Order) SortBy(c Column) {
	o.By, o.Reversed = c, c == o.By && !o.Reversed
}

// Descending reports whether entries go from large to small, or new to old.
func (o Order) Descending() bool { return (o.By == BySize || o.By == ByTime) != o.Reversed }

// Rows are the entries of a folder in order. They are immutable.
type Rows struct {
	Order Order
	set   *Set
	shown []int32 // indexes into set
}

func (r *Rows) Len() int {
	if r == nil {
		return 0
	}
	return len(r.shown)
}

// At returns the entry of a row.
func (r *Rows) At(row int) *api.FileInfo { return &r.set.entries[r.shown[row]] }

// Find returns the row of a name; -1 if there is none.
func (r *Rows) Find(name string) int {
	for row := range r.Len() {
		if r.At(row).Name == name {
			return row
		}
	}
	return -1
}

// Arrange filters and sorts entries of a folder, folders first. If there are many, use a Set.
func Arrange(all []api.FileInfo, o Order) *Rows {
	return (*Set)(nil).With(all).Arrange(o)
}

// Arrange filters and sorts the entries, folders first. It is slow for many entries.
func (s *Set) Arrange(o Order) *Rows {
	r := &Rows{Order: o, set: s, shown: make([]int32, 0, s.Len())}
	words := strings.Fields(strings.ToLower(o.Filter))
	// Names are converted to lower case once, not in every comparison.
	folded := make([]string, s.Len())
	for i := range folded {
		name := s.entries[i].Name
		if !o.Hidden && strings.HasPrefix(name, ".") {
			continue
		}
		folded[i] = strings.ToLower(name)
		if text.Holds(folded[i], words) {
			r.shown = append(r.shown, int32(i))
		}
	}
	slices.SortFunc(r.shown, func(a, b int32) int { return o.compare(&s.entries[a], &s.entries[b], folded[a], folded[b]) })
	return r
}

// compare orders folders before files, then by column, then by name. nameA and nameB are in lower
// case.
func (o Order) compare(a, b *api.FileInfo, nameA, nameB string) int {
	if x, y := a.IsFolder(), b.IsFolder(); x != y {
		if x {
			return -1
		}
		return 1
	}
	by := 0
	switch o.By {
	case BySize:
		by = cmp.Compare(b.Size, a.Size)
	case ByTime:
		by = b.Modified.Compare(a.Modified)
	case ByExtension:
		by = strings.Compare(fileExtension(nameA), fileExtension(nameB))
	}
	// Compare the exact names last, so that no two entries are equal.
	by = cmp.Or(by, compareNatural(nameA, nameB), strings.Compare(a.Name, b.Name))
	if o.Reversed {
		return -by
	}
	return by
}

func fileExtension(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[dot:]
	}
	return ""
}

// compareNatural compares names with their numbers as numbers: "part9" comes before "part10".
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		if !isDigit(a[0]) || !isDigit(b[0]) {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		var x, y string
		x, a = leadingNumber(a)
		y, b = leadingNumber(b)
		if by := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); by != 0 {
			return by
		}
	}
	return cmp.Compare(len(a), len(b))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// leadingNumber splits off the digits at the start of s, without leading zeros.
func leadingNumber(s string) (number, rest string) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return strings.TrimLeft(s[:end], "0"), s[end:]
}
