// Package screen implements the user's terminal: it paints the dashboard and reads keys,
// mouse events and pastes in their order. It knows neither the content nor the meaning of
// keys.
//
// The package has its own painter and decoder because of measurements: a key's echo takes
// 1.1 ms, but 6.5 ms through Bubble Tea's renderer, which checks for changes at fixed
// times, even while there are none. The painter skips unchanged rows, scrolls moved ones,
// keeps columns aligned if terminals disagree on a cluster's width, and combines pictures
// with the cells below them. The decoder delays only a lone escape, reports alt+key in one piece, and
// preserves the bytes of a paste.
package screen
