// Package project reads project files: what of a folder's sessions and
// processes shall run, in which order, and how its terminals are laid out. It
// reads tandem.yaml, Procfiles, the files of process-compose and the scripts of
// a package.json, and orders entries by what they depend on. What becomes of the
// entries is the caller's business; nothing is started here.
package project
