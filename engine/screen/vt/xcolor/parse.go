package xcolor

import (
	"strconv"
	"strings"
)

// maxColorSpec is longer than any valid colour.
const maxColorSpec = 64

// Parse parses a colour like XParseColor: rgb:r/g/b with one to four hex digits each, # and three
// equal parts of one to four hex digits, or a name. The result is 0xRRGGBB.
func Parse(s string) (rgb uint32, ok bool) {
	if len(s) > maxColorSpec {
		return 0, false
	}
	if rest, found := strings.CutPrefix(s, "#"); found {
		n := len(rest) / 3
		if n < 1 || n > 4 || len(rest) != 3*n {
			return 0, false
		}
		return parseComponents([]string{rest[:n], rest[n : 2*n], rest[2*n:]}, parseUpperBits)
	}
	space, rest, found := strings.Cut(s, ":")
	if !found {
		return parseName(s)
	}
	if !strings.EqualFold(space, "rgb") {
		return 0, false
	}
	return parseComponents(strings.Split(rest, "/"), parseFraction)
}

// parseComponents parses three components with the function parse, each to 0…255, and combines
// them.
func parseComponents(parts []string, parse func(string) (uint32, bool)) (rgb uint32, ok bool) {
	if len(parts) != 3 {
		return 0, false
	}
	for _, p := range parts {
		v, ok := parse(p)
		if !ok {
			return 0, false
		}
		rgb = rgb<<8 | v
	}
	return rgb, true
}

// parseUpperBits parses a component of #: the upper bits of 16, as in XParseColor.
func parseUpperBits(s string) (uint32, bool) {
	v, err := strconv.ParseUint(s, 16, 16)
	return uint32(v) << (16 - 4*len(s)) >> 8, err == nil
}

// parseFraction parses a component of rgb:, scaled so that all digits f are the maximum.
func parseFraction(s string) (uint32, bool) {
	if len(s) > 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 16, 16)
	full := uint64(1)<<(4*len(s)) - 1
	return uint32((v*255 + full/2) / max(full, 1)), err == nil
}

// AppendRGB appends a colour in the form used in replies, rgb:rrrr/gggg/bbbb.
func AppendRGB(dst []byte, rgb uint32) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, "rgb:"...)
	for shift := 16; shift >= 0; shift -= 8 {
		hi, lo := hex[rgb>>(shift+4)&15], hex[rgb>>shift&15]
		dst = append(dst, hi, lo, hi, lo, '/')
	}
	return dst[:len(dst)-1]
}
