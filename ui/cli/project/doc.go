// Package project reads project files: which of a folder's sessions and
// processes to run, in which order, and how its terminals are laid out. It
// reads tandem.yaml, Procfiles, the files of process-compose and the scripts of
// a package.json, and orders entries by what they depend on. A Plan compares a
// file with what there is; a Run carries it out, and EndAll ends what it started.
package project
