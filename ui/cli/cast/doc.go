// Package cast records what sessions show as asciicasts, and plays them and what
// is kept of sessions: the format, the times of output, the pace and the keys of
// playing. Which session or file is meant is the verbs' business.
package cast
