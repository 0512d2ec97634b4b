package widget

// A ListSign is what the header of a list says beside its title: what it is
// filtered by, and where in it the cursor is.
type ListSign struct {
	Filter string // as it was typed, "" without one
	At     int    // the row of the cursor, from 1; 0 where it is on none
	Shown  int    // rows that match the filter
	All    int    // rows without the filter, those too many to show too; 0 if that is unknown
}

// Draw gives the sign in at most w cells, and how many it takes: a filter is cut
// before the position goes.
func (s ListSign) Draw(w int, look *Look) (text string, cells int) {
	if s == (ListSign{}) {
		return "", 0
	}
	place := s.place()
	if Width(place) > w {
		return "", 0
	}
	text, cells = look.Dim.Text(place), Width(place)
	if s.Filter == "" {
		return text, cells
	}
	const gap, edges, least = 1, 3, 3 // of the chip: a space on both sides, and the slash
	room := w - cells - gap - edges
	if room < least {
		return text, cells
	}
	chip := " /" + Clip(Clean(s.Filter), min(room, 24)) + " "
	return look.Chip.Text(chip) + " " + text, Width(chip) + gap + cells
}

// place is "14/25", or "3/4 of 25" of what is filtered.
func (s ListSign) place() string {
	place := Itoa(s.Shown)
	if s.At > 0 {
		place = Itoa(s.At) + "/" + place
	}
	if s.Filter != "" && s.All > 0 || s.All > s.Shown {
		place += " of " + Itoa(s.All)
	}
	return place
}

// Over puts the sign over the right end of a row of w cells, whose other cells
// stay: the names of columns are among them, so a filter has a quarter of it.
func (s ListSign) Over(row string, w int, look *Look) string {
	sign, cells := s.Draw(s.over(w), look)
	if cells == 0 || cells+2 > w {
		return row
	}
	return Pad(Cut(row, w-cells-2, ""), w-cells-2) + SgrReset + " " + sign + " "
}

func (s ListSign) over(w int) int {
	const least = 20
	return min(max(w/4, least), w/2)
}

// Scrollbar puts a thin scrollbar into the last cell of rows of w cells, which show
// a list of total rows from top on. Where all of it is shown, there is none.
func Scrollbar(rows []string, w, top, total int, look *Look) {
	h := len(rows)
	if h < 2 || w < 2 || total <= h {
		return
	}
	size := max(h*h/total, 1)
	from := (top*(h-size) + (total-h)/2) / (total - h)
	for y := range rows {
		sign := look.Rule.Text(look.Glyphs.Separator)
		if y >= from && y < from+size {
			sign = look.Accent.Text(look.Glyphs.Thumb)
		}
		rows[y] = Pad(Cut(rows[y], w-1, ""), w-1) + SgrReset + sign
	}
}

// NothingMatches stands in a list of w cells whose filter leaves no row, with the
// key that clears the filter if there is one and it fits.
func NothingMatches(w int, clear string) string {
	const said = "nothing matches"
	hint := " · " + clear + " shows all"
	if clear == "" || w < Width(said+hint) {
		return said
	}
	return said + hint
}
