// Package files is the view of a folder: a list, a preview and file operations.
package files
