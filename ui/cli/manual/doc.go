// Package manual generates help, manual pages and completion scripts from the command tree.
package manual
