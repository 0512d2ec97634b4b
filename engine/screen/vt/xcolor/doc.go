// Package xcolor parses colours like X11's XParseColor: in hexadecimal or by name.
package xcolor
