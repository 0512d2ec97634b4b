package cellwidth

import (
	"unicode"
	"unicode/utf8"
)

// Invisible says that a character controls, shows nothing, looks like a space
// and is none, or differs from font to font: what is to be allowed must not hold
// it unseen.
func Invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return r == utf8.RuneError || r == brailleBlank || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
