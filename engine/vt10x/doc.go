// Package vt10x is a grid.Grid over github.com/hinshun/vt10x. The library only
// stores cells and moves them about: it gets a few sequences with clamped
// parameters and whole characters, never a byte of what a program wrote.
package vt10x
