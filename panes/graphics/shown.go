package graphics

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
)

// sheetsKept is how many sheets that are not seen a terminal keeps.
const sheetsKept = 8

// Patches are the pictures of sessions on a terminal, and how it takes them.
type Patches struct {
	On  Screen
	All []Patch
}

// Equal reports whether the same is to be seen.
func (p Patches) Equal(q Patches) bool { return p.On == q.On && slices.Equal(p.All, q.All) }

// Crosses reports whether one is in a row of the screen.
func (p Patches) Crosses(y int) bool {
	return slices.ContainsFunc(p.All, func(one Patch) bool { return one.Crosses(y) })
}

// A keptSheet is one that a terminal has by kitty's protocol.
type keptSheet struct {
	id   uint32
	w, h int // pixels of a cell
	turn int // in which it was seen last
}

// A Shown knows which patches a terminal shows and which sheets it keeps. Its zero value is
// of a terminal that has none.
type Shown struct {
	patches Patches
	numbers map[Patch]uint32 // of those that kitty's protocol placed
	moved   bool             // these may be elsewhere
	sheets  map[*Sheet]*keptSheet
	last    uint32 // number
	turns   int
	sixels  map[sixelKey][]byte // of those that are shown
}

type sixelKey struct {
	sheet *Sheet
	cells image.Rectangle
}

// Any reports whether the terminal shows patches.
func (s *Shown) Any() bool { return len(s.patches.All) > 0 }

// AppendTurn appends what changes the patches; those in rows that were written are shown
// again. What comes after an erased screen has to be transmitted anew.
func (s *Shown) AppendTurn(dst []byte, next Patches, written map[int]bool, erased bool) []byte {
	switch {
	case next.On != s.patches.On, erased && next.On.Protocol != Sixel:
		dst = s.AppendForget(dst)
		s.Forget()
	case erased:
		s.patches.All = nil
	}
	if next.Equal(s.patches) && len(written) == 0 && !s.moved || len(next.All) == 0 && len(s.patches.All) == 0 {
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

// Scroll takes in that the terminal has moved its rows up. Sixels went with them; what
// kitty's protocol has placed is placed again, as not all terminals take it along.
func (s *Shown) Scroll(n int) {
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

// appendKitty places what is new and takes away what is gone, in this order, so that nothing
// is bare for a moment.
func (s *Shown) appendKitty(dst []byte, next Patches, written map[int]bool) []byte {
	before := s.numbers
	s.numbers = map[Patch]uint32{}
	for _, p := range next.All {
		var sheet *keptSheet
		dst, sheet = s.sheet(dst, p.Sheet, next.On)
		number, placed := before[p]
		if placed = placed && !s.moved; !placed {
			s.last++
			number = s.last
		}
		s.numbers[p] = number
		if sheet.id != 0 && (!placed || touches(p, written)) {
			dst = appendTo(dst, p)
			dst = AppendPatch(dst, sheet.id, number, p, sheet.w, sheet.h)
		}
	}
	for p, number := range before {
		if s.numbers[p] != number && s.sheets[p.Sheet] != nil {
			dst = AppendHidePatch(dst, s.sheets[p.Sheet].id, number)
		}
	}
	s.moved = false
	return s.letGo(dst)
}

// appendTo moves the cursor to a patch.
func appendTo(dst []byte, p Patch) []byte { return fmt.Appendf(dst, "\x1b[%d;%dH", p.Y+1, p.X+1) }

// sheet gives a sheet to the terminal, unless it has it. One that is damaged has no ID.
func (s *Shown) sheet(dst []byte, of *Sheet, on Screen) ([]byte, *keptSheet) {
	kept := s.sheets[of]
	if kept == nil {
		kept = &keptSheet{}
		if text, w, h := of.Kitty(on); text != nil {
			kept.id, kept.w, kept.h = 1+rand.Uint32N(1<<31-1), w, h
			dst = AppendTransmit(dst, kept.id, text)
		}
		if s.sheets == nil {
			s.sheets = map[*Sheet]*keptSheet{}
		}
		s.sheets[of] = kept
	}
	kept.turn = s.turns
	return dst, kept
}

// letGo forgets sheets that have not been seen for a while.
func (s *Shown) letGo(dst []byte) []byte {
	for of, kept := range s.sheets {
		if len(s.sheets) > sheetsKept && kept.turn < s.turns {
			if kept.id != 0 {
				dst = AppendForget(dst, kept.id)
			}
			delete(s.sheets, of)
		}
	}
	return dst
}

// appendSixel draws what is new or was written over. What is gone went with its cells.
func (s *Shown) appendSixel(dst []byte, next Patches, written map[int]bool) []byte {
	before := s.sixels
	s.sixels = map[sixelKey][]byte{}
	for _, p := range next.All {
		key := sixelKey{p.Sheet, p.Cells}
		data, known := before[key]
		stays := slices.Contains(s.patches.All, p) && !touches(p, written)
		if !known && !stays {
			data, known = p.Sheet.Sixel(p.Cells, next.On), true
		}
		if known {
			s.sixels[key] = data
		}
		if !stays {
			dst = append(appendTo(dst, p), data...)
		}
	}
	return dst
}

func touches(p Patch, written map[int]bool) bool {
	for y := range written {
		if p.Crosses(y) {
			return true
		}
	}
	return false
}

// AppendForget appends what leaves nothing in the terminal.
func (s *Shown) AppendForget(dst []byte) []byte {
	for _, kept := range s.sheets {
		if kept.id != 0 {
			dst = AppendForget(dst, kept.id)
		}
	}
	return dst
}

// Forget takes in that the terminal has nothing any more.
func (s *Shown) Forget() { *s = Shown{last: s.last, turns: s.turns} }
