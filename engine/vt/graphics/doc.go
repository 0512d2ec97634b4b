// Package graphics is pictures that programs print: commands of kitty's graphics
// protocol (sw.kovidgoyal.net/kitty/graphics-protocol), sixels (DEC STD 070), and a
// bounded store of what they send. Where on a screen a picture is, package vt says.
package graphics
