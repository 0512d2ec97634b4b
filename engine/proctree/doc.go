// Package proctree reads the process table of Linux: which processes came of a child of ours, what they use,
// and which ports they listen on; and it ends them all, with signals and cgroups. Which processes there should
// be, and who may end them, it does not know.
package proctree
