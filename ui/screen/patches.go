package screen

import (
	"image"
	"math/rand/v2"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"tandem/panes/graphics"
)

// sheetsKept is how many sheets that are not seen a terminal keeps.
const sheetsKept = 8

// Patches are the pictures of sessions on the screen, and how the terminal takes them.
type Patches struct {
	On  graphics.Screen
	All []graphics.Patch
}

func (p Patches) equal(q Patches) bool { return p.On == q.On && slices.Equal(p.All, q.All) }

// crosses reports whether one is in a row of the screen.
func (p Patches) crosses(y int) bool {
	return slices.ContainsFunc(p.All, func(one graphics.Patch) bool { return one.Crosses(y) })
}

// A keptSheet is one that a terminal has by kitty's protocol.
type keptSheet struct {
	id   uint32
	w, h int // pixels of a cell
	turn int // in which it was seen last
}

// keptPatches know which patches the terminal shows and which sheets it keeps.
type keptPatches struct {
	shown   Patches
	numbers map[graphics.Patch]uint32 // of those that kitty's protocol placed
	sheets  map[*graphics.Sheet]*keptSheet
	last    uint32 // number
	turns   int
	sixels  map[sixelKey][]byte // of those that are shown
}

type sixelKey struct {
	sheet *graphics.Sheet
	cells image.Rectangle
}

// turn changes the patches; those in rows that were written are shown again. What comes
// after an erased screen has to be transmitted anew.
func (k *keptPatches) turn(next Patches, written map[int]bool, erased bool) (t pictureChange) {
	if next.equal(k.shown) && len(written) == 0 && !erased || len(next.All) == 0 && len(k.shown.All) == 0 {
		return t
	}
	if erased || next.On != k.shown.On {
		t.put = k.forget(t.put)
	}
	k.turns++
	if next.On.Protocol == graphics.Sixel {
		t.put = k.sixel(t.put, next, written)
	} else {
		k.kitty(&t, next, written)
	}
	k.shown = next
	return t
}

// kitty places what is new and takes away what is gone, in this order, so that nothing is
// bare for a moment.
func (k *keptPatches) kitty(t *pictureChange, next Patches, written map[int]bool) {
	before := k.numbers
	k.numbers = map[graphics.Patch]uint32{}
	for _, p := range next.All {
		sheet := k.sheet(t, p.Sheet, next.On)
		number, placed := before[p]
		if !placed {
			k.last++
			number = k.last
		}
		k.numbers[p] = number
		if sheet.id != 0 && (!placed || touches(p, written)) {
			t.put = append(t.put, ansi.CursorPosition(p.X+1, p.Y+1)...)
			t.put = graphics.AppendPatch(t.put, sheet.id, number, p, sheet.w, sheet.h)
		}
	}
	for p, number := range before {
		if _, still := k.numbers[p]; !still && k.sheets[p.Sheet] != nil {
			t.put = graphics.AppendHidePatch(t.put, k.sheets[p.Sheet].id, number)
		}
	}
	k.letGo(t)
}

// sheet gives a sheet to the terminal, unless it has it. One that is damaged has no ID.
func (k *keptPatches) sheet(t *pictureChange, s *graphics.Sheet, on graphics.Screen) *keptSheet {
	kept := k.sheets[s]
	if kept == nil {
		kept = &keptSheet{}
		if text, w, h := s.Kitty(on); text != nil {
			kept.id, kept.w, kept.h = 1+rand.Uint32N(1<<31-1), w, h
			t.put = graphics.AppendTransmit(t.put, kept.id, text)
		}
		if k.sheets == nil {
			k.sheets = map[*graphics.Sheet]*keptSheet{}
		}
		k.sheets[s] = kept
	}
	kept.turn = k.turns
	return kept
}

// letGo forgets sheets that have not been seen for a while.
func (k *keptPatches) letGo(t *pictureChange) {
	for s, kept := range k.sheets {
		if len(k.sheets) > sheetsKept && kept.turn < k.turns {
			if kept.id != 0 {
				t.put = graphics.AppendForget(t.put, kept.id)
			}
			delete(k.sheets, s)
		}
	}
}

// sixel draws what is new or was written over. What is gone went with its cells.
func (k *keptPatches) sixel(dst []byte, next Patches, written map[int]bool) []byte {
	before := k.sixels
	k.sixels = map[sixelKey][]byte{}
	for _, p := range next.All {
		key := sixelKey{p.Sheet, p.Cells}
		data, known := before[key]
		if !known {
			data = p.Sheet.Sixel(p.Cells, next.On)
		}
		k.sixels[key] = data
		if !slices.Contains(k.shown.All, p) || touches(p, written) {
			dst = append(dst, ansi.CursorPosition(p.X+1, p.Y+1)...)
			dst = append(dst, data...)
		}
	}
	return dst
}

func touches(p graphics.Patch, written map[int]bool) bool {
	for y := range written {
		if p.Crosses(y) {
			return true
		}
	}
	return false
}

// forget appends what leaves nothing in the terminal.
func (k *keptPatches) forget(dst []byte) []byte {
	for _, kept := range k.sheets {
		if kept.id != 0 {
			dst = graphics.AppendForget(dst, kept.id)
		}
	}
	*k = keptPatches{last: k.last, turns: k.turns}
	return dst
}
