package wire

import (
	"encoding/binary"
	"math"

	"tandem/engine/api"
	"tandem/keys"
)

// appendDisplay appends the size of a cell and the colours. Unknown ones are 0.
func appendDisplay(dst []byte, v *api.Display) []byte {
	dst = binary.AppendVarint(dst, int64(v.CellWidth))
	dst = binary.AppendVarint(dst, int64(v.CellHeight))
	for _, c := range v.Colors.All() {
		dst = binary.AppendUvarint(dst, uint64(*c))
	}
	return appendBool(dst, v.Pixels)
}

func (d *decoder) display() *api.Display {
	v := &api.Display{CellWidth: d.small(), CellHeight: d.small()}
	for _, c := range v.Colors.All() {
		*c = api.Color(d.uvarint(math.MaxUint32))
	}
	v.Pixels = d.bool()
	return v
}

// directFields is how many fields of a Direct are always sent. Of the other fields, those after the
// last one set are left out. Older ends do not know these fields, and never get a message with one
// of them set.
const directFields = 4

func appendDirect(dst []byte, o *api.Direct) []byte {
	all := [...]bool{o.Offer, o.Keys, o.Extended, o.Colored, o.Pixels, o.Kitty, o.Sixel}
	n := len(all)
	for n > directFields && !all[n-1] {
		n--
	}
	for _, on := range all[:n] {
		dst = appendBool(dst, on)
	}
	return dst
}

func (d *decoder) direct() *api.Direct {
	o := &api.Direct{Offer: d.bool(), Keys: d.bool(), Extended: d.bool(), Colored: d.bool()}
	last := true
	for _, field := range [...]*bool{&o.Pixels, &o.Kitty, &o.Sixel} {
		if len(d.b) > 0 {
			last = d.bool()
			*field = last
		}
	}
	// Reject a false at the end: appendDirect never writes one, so each Direct has only one
	// encoding.
	if !last {
		d.fail()
	}
	return o
}

// appendModes appends the modes that decide how keys are encoded.
func appendModes(dst []byte, m *keys.Modes) []byte {
	for _, on := range [...]bool{m.AppCursor, m.AppKeypad, m.Newline} {
		dst = appendBool(dst, on)
	}
	return append(dst, m.ModifyOther, m.Kitty)
}

func (d *decoder) modes() *keys.Modes {
	return &keys.Modes{AppCursor: d.bool(), AppKeypad: d.bool(), Newline: d.bool(), ModifyOther: d.byte(), Kitty: d.byte()}
}
