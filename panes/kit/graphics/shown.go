package graphics

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
)

// maxUnseenSheets is how many sheets a terminal may keep that it does not show.
const maxUnseenSheets = 8

// Patches are the pictures on a terminal's screen, and the way in which the terminal shows them.
type Patches struct {
	On  Screen
	All []Patch
}

// Equal reports whether both look the same.
func (p Patches) Equal(q Patches) bool { return p.On == q.On && slices.Equal(p.All, q.All) }

// CrossesRow reports whether any patch covers row y of the screen.
func (p Patches) CrossesRow(y int) bool {
	return slices.ContainsFunc(p.All, func(one Patch) bool { return one.CrossesRow(y) })
}

// A sentSheet is a sheet transmitted with kitty's protocol.
type sentSheet struct {
	id       uint32
	w, h     int // pixels of a cell
	lastTurn int // turn it was last shown in
}

// A Display tracks which patches a terminal shows and which sheets it has, so that an update sends
// only the difference. With kitty's protocol a sheet is transmitted once and then placed by number;
// sixels are pixels in cells, so they vanish when the cells are written. The zero value is a
// terminal without pictures.
type Display struct {
	patches Patches
	numbers map[Patch]uint32 // placements in kitty's protocol
	moved   bool             // the placements may have moved
	sheets  map[*Sheet]*sentSheet
	last    uint32 // last number
	turns   int
	sixels  map[sixelKey][]byte // of the visible patches
}

type sixelKey struct {
	sheet *Sheet
	cells image.Rectangle
}

// HasPatches reports whether the terminal shows any part of a picture.
func (s *Display) HasPatches() bool { return len(s.patches.All) > 0 }

// AppendUpdate appends the output that changes the patches to next. It shows patches in written
// rows again. If the screen was erased, it also transmits their sheets again.
func (s *Display) AppendUpdate(dst []byte, next Patches, written map[int]bool, erased bool) []byte {
	switch {
	// The terminal may have lost its sheets with the screen.
	case next.On != s.patches.On, erased && next.On.Protocol != Sixel:
		dst = s.AppendClear(dst)
		s.Reset()
	case erased:
		s.patches.All = nil
	}
	if (next.Equal(s.patches) && len(written) == 0 && !s.moved) || (len(next.All) == 0 && len(s.patches.All) == 0) {
		return dst
	}
	s.turns++
	if next.On.Protocol == Sixel {
		dst = s.appendSixel(dst, next, written)
	} else {
		dst = s.appendKitty(dst, next, written)
	}
	s.patches = next
	return dst
}

// ScrollUp records that the terminal has moved its rows up by n. Sixels have moved with them.
// Kitty's placements are made again, because not all terminals move those.
func (s *Display) ScrollUp(n int) {
	if n <= 0 {
		return
	}
	if s.patches.On.Protocol != Sixel {
		s.moved = len(s.numbers) > 0
		return
	}
	var all []Patch
	for _, p := range s.patches.All {
		p.Y -= n
		if p.Y < 0 {
			p.Cells.Min.Y, p.Y = p.Cells.Min.Y-p.Y, 0
		}
		if p.Cells.Min.Y < p.Cells.Max.Y {
			all = append(all, p)
		}
	}
	s.patches.All = all
}

// appendKitty adds new placements and then removes old ones, in this order, so that the screen
// never flickers.
func (s *Display) appendKitty(dst []byte, next Patches, written map[int]bool) []byte {
	before := s.numbers
	s.numbers = map[Patch]uint32{}
	for _, p := range next.All {
		var sheet *sentSheet
		dst, sheet = s.transmitSheet(dst, p.Sheet, next.On)
		number, placed := before[p]
		// With a number of its own, the new placement can be shown before the old one is hidden.
		if placed = placed && !s.moved; !placed {
			s.last++
			number = s.last
		}
		s.numbers[p] = number
		if sheet.id != 0 && (!placed || isOverwritten(p, written)) {
			dst = appendCursor(dst, p)
			dst = AppendPatch(dst, sheet.id, number, p, sheet.w, sheet.h)
		}
	}
	for p, number := range before {
		if s.numbers[p] != number && s.sheets[p.Sheet] != nil {
			dst = AppendHidePatch(dst, s.sheets[p.Sheet].id, number)
		}
	}
	s.moved = false
	return s.dropSheets(dst)
}

// appendCursor moves the cursor to a patch.
func appendCursor(dst []byte, p Patch) []byte { return fmt.Appendf(dst, "\x1b[%d;%dH", p.Y+1, p.X+1) }

// transmitSheet transmits a sheet unless the terminal has it. The id of a damaged sheet is 0.
func (s *Display) transmitSheet(dst []byte, sheet *Sheet, on Screen) ([]byte, *sentSheet) {
	kept := s.sheets[sheet]
	if kept == nil {
		kept = &sentSheet{}
		if text, w, h := sheet.EncodeKitty(on); text != nil {
			kept.id, kept.w, kept.h = 1+rand.Uint32N(1<<31-1), w, h
			dst = AppendTransmit(dst, kept.id, text)
		}
		if s.sheets == nil {
			s.sheets = map[*Sheet]*sentSheet{}
		}
		s.sheets[sheet] = kept
	}
	kept.lastTurn = s.turns
	return dst, kept
}

// dropSheets deletes sheets not shown for a while.
func (s *Display) dropSheets(dst []byte) []byte {
	for of, kept := range s.sheets {
		if len(s.sheets) > maxUnseenSheets && kept.lastTurn < s.turns {
			if kept.id != 0 {
				dst = AppendDelete(dst, kept.id)
			}
			delete(s.sheets, of)
		}
	}
	return dst
}

// appendSixel draws new patches and those that were overwritten. Patches that are gone need
// nothing, because they vanish with their cells.
func (s *Display) appendSixel(dst []byte, next Patches, written map[int]bool) []byte {
	before := s.sixels
	s.sixels = map[sixelKey][]byte{}
	for _, p := range next.All {
		key := sixelKey{p.Sheet, p.Cells}
		data, known := before[key]
		stays := slices.Contains(s.patches.All, p) && !isOverwritten(p, written)
		// Encode only sequences that will be sent.
		if !known && !stays {
			data, known = p.Sheet.EncodeSixel(p.Cells, next.On), true
		}
		if known {
			s.sixels[key] = data
		}
		if !stays {
			dst = append(appendCursor(dst, p), data...)
		}
	}
	return dst
}

func isOverwritten(p Patch, written map[int]bool) bool {
	for y := range written {
		if p.CrossesRow(y) {
			return true
		}
	}
	return false
}

// AppendClear appends the output that deletes all sheets in the terminal.
func (s *Display) AppendClear(dst []byte) []byte {
	for _, kept := range s.sheets {
		if kept.id != 0 {
			dst = AppendDelete(dst, kept.id)
		}
	}
	return dst
}

// Reset records that the terminal has no pictures.
func (s *Display) Reset() { *s = Display{last: s.last, turns: s.turns} }
