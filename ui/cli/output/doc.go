// Package output is how verbs answer: text and tables for people, JSON for
// programs, errors with their hints and exit statuses.
//
// The rules for what a person reads:
//
//   - What was asked for goes to standard output, everything else to standard
//     error.
//   - An error is "tandem: " and what was tried on what, and why not, in lower
//     case without a full stop. What to do follows on a line of its own that
//     begins with "hint: ". With --json it is an object with code, message and
//     hint instead.
//   - What comes from programs, names, titles, paths, commands, is shown with
//     its control characters made visible, never raw.
//   - Colour only repeats what words say, and only on a terminal without
//     NO_COLOR.
package output
