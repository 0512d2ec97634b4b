// Package preview shows the beginning of a file, a folder, an archive or a
// picture, whatever is in it, and reads on as it is scrolled.
package preview
