// Package vt10x implements grid.Grid with github.com/hinshun/vt10x. The library only stores and
// moves cells: it receives a few sequences with clamped parameters and whole characters, never a
// byte of a program's output.
package vt10x
