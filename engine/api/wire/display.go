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
	return dst
}

func (d *decoder) display() *api.Display {
	v := &api.Display{CellWidth: d.small(), CellHeight: d.small()}
	for _, c := range v.Colors.All() {
		*c = api.Color(d.uvarint(math.MaxUint32))
	}
	return v
}
