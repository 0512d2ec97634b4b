package wire

import (
	"encoding/binary"
	"math"

	"tandem/engine/api"
)

// appendDisplay appends the size of a cell, and the colours with ColorRGB or 0.
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

// directFields is how many fields of a Direct are always there. The others are left out
// behind the last that is set: older ends do not know them, and they are never set for these.
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
	if !last { // as nobody writes it
		d.fail()
	}
	return o
}
