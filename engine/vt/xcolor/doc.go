// Package xcolor reads colours as X11's XParseColor does: hexadecimal, by name,
// and in the spaces of Xcms.
package xcolor
