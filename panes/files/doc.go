// Package files is the view of a folder: a list, a preview and file operations. A list of any
// length takes little memory.
package files
