// Package themes turns a palette of named colours into the styles that the
// dashboard and the command line draw with, and knows the glyphs that tell a
// state without colour. It draws nothing itself, and keeps no styles: whoever
// draws builds them once.
package themes
