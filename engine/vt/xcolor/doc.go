// Package xcolor reads colours as X11's XParseColor does: hexadecimal or by name.
package xcolor
