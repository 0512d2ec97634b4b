// Package cast records sessions as asciicasts, and plays recordings and logs of sessions. It
// contains the file format, the timing of output, and the speed and keys of playback. Commands
// choose the session or file.
package cast
