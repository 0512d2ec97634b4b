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

// appendDirect leaves the last field out where it is not set: older ends do not know it, and
// it is never set for them.
func appendDirect(dst []byte, o *api.Direct) []byte {
	for _, on := range [...]bool{o.Offer, o.Keys, o.Extended, o.Colored} {
		dst = appendBool(dst, on)
	}
	if o.Pixels {
		dst = appendBool(dst, true)
	}
	return dst
}

func (d *decoder) direct() *api.Direct {
	o := &api.Direct{Offer: d.bool(), Keys: d.bool(), Extended: d.bool(), Colored: d.bool()}
	if len(d.b) > 0 {
		if o.Pixels = d.bool(); !o.Pixels {
			d.fail()
		}
	}
	return o
}
