// Package themes turns palettes of named colours into the styles used by the dashboard and the
// command line, and provides the glyphs that show a state without colour. It draws nothing and
// caches no styles: callers build them once.
package themes
