// Package layout arranges sessions on the screen: tabs, each a tree of splits with panes
// as leaves. It moves panes and borders, and converts the layout to and from its saved
// form. It knows neither the engine nor keys.
package layout
