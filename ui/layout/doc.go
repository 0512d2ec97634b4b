// Package layout holds how sessions lie on the screen: tabs, each a tree of splits
// with terminals as its leaves, how panes and borders move about in them, and how
// that is written down for the next dashboard. It knows no engine and no keys.
package layout
