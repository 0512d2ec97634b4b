// Package preview shows the beginning of a file, a folder, an archive or an image, and reads
// further parts as the user scrolls.
package preview
