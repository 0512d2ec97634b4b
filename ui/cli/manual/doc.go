// Package manual tells about the verbs: help, the manual pages and the scripts
// by which shells complete them. All of it is made from the tree of commands.
package manual
