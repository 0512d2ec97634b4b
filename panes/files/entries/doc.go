// Package entries holds the entries of a folder in little memory, sorts, filters and lists them. It
// reads no folder.
package entries
