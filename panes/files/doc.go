// Package files is the view of a folder, with a list of which any number of
// entries takes little memory.
package files
