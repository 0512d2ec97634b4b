// Package graphics handles pictures printed by programs: commands of kitty's graphics protocol
// (sw.kovidgoyal.net/kitty/graphics-protocol), sixels (DEC STD 070), and a bounded store for their
// data. Package vt keeps their positions on the screen.
package graphics
