package list

import (
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A ListSign is the part of a list's header beside its title: the filter and the position of the
// cursor.
type ListSign struct {
	Filter string // as typed; "" without one
	At     int    // row of the cursor, from 1; 0 without one
	Shown  int    // rows matching the filter
	All    int    // rows without the filter, including those too many to show; 0 if unknown
}

// Draw returns the sign in at most w cells, and its width. It shortens the filter before it drops
// the position.
func (s ListSign) Draw(w int, look *look.Look) (content string, cells int) {
	if s == (ListSign{}) {
		return "", 0
	}
	place := s.place()
	if text.Width(place) > w {
		return "", 0
	}
	content, cells = look.Dim.Text(place), text.Width(place)
	if s.Filter == "" {
		return content, cells
	}
	const gap, edges, least = 1, 3, 3 // widths around the filter: a space on both sides, and the slash
	room := w - cells - gap - edges
	if room < least {
		return content, cells
	}
	chip := " /" + text.Clip(text.Clean(s.Filter), min(room, 24)) + " "
	return look.Chip.Text(chip) + " " + content, text.Width(chip) + gap + cells
}

// place formats the position of the cursor: "14/25", or "3/4 of 25" in a filtered list.
func (s ListSign) place() string {
	place := text.Itoa(s.Shown)
	if s.At > 0 {
		place = text.Itoa(s.At) + "/" + place
	}
	if s.Filter != "" && s.All > 0 || s.All > s.Shown {
		place += " of " + text.Itoa(s.All)
	}
	return place
}

// Over draws the sign over the right end of a row of w cells. It leaves room for the column names,
// so a filter gets a quarter of the row.
func (s ListSign) Over(row string, w int, look *look.Look) string {
	sign, cells := s.Draw(s.maxWidth(w), look)
	if cells == 0 || cells+2 > w {
		return row
	}
	return text.Pad(text.Cut(row, w-cells-2, ""), w-cells-2) + text.SgrReset + " " + sign + " "
}

func (s ListSign) maxWidth(w int) int {
	const least = 20
	return min(max(w/4, least), w/2)
}

// Scrollbar draws a thin scrollbar into the last cells of rows, which show a part of a list with
// total rows, beginning at row top. If they show the whole list, it draws nothing.
func Scrollbar(rows []string, w, top, total int, look *look.Look) {
	h := len(rows)
	if h < 2 || w < 2 || total <= h {
		return
	}
	size := max(h*h/total, 1)
	// Rounded, so that the thumb reaches both ends.
	from := (top*(h-size) + (total-h)/2) / (total - h)
	for y := range rows {
		sign := look.Rule.Text(look.Glyphs.Separator)
		if y >= from && y < from+size {
			sign = look.Accent.Text(look.Glyphs.Thumb)
		}
		rows[y] = text.Pad(text.Cut(rows[y], w-1, ""), w-1) + text.SgrReset + sign
	}
}

// NothingMatches returns the text for a list whose filter matches nothing. It names the key that
// clears the filter, if there is one and the text fits into w cells.
func NothingMatches(w int, clear string) string {
	const said = "nothing matches"
	hint := " · " + clear + " shows all"
	if clear == "" || w < text.Width(said+hint) {
		return said
	}
	return said + hint
}

// Follow returns the first visible row of a list of rows scrolled as little as possible from top,
// so that the cursor is visible. The view shows height rows.
func Follow(top, cursor, rows, height int) int {
	if height > 0 {
		top = max(top, cursor-height+1)
	}
	return max(min(top, cursor, rows-height), 0)
}
