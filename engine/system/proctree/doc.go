// Package proctree reads the process table of Linux: the descendants of a child, their resource
// use and the ports they listen on. It also stops whole trees, with signals and cgroups. Callers
// decide which processes should run and who may stop them.
package proctree
