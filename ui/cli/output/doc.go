// Package output prints the results of commands: text and tables for users, JSON for programs, and
// errors with their hints and exit statuses.
//
// Rules for text that users read:
//
//   - The answer goes to standard output, everything else to standard error.
//   - An error is "tandem: " plus the action, its object and the cause, in lower
//     case without a full stop. What to do follows on its own line, after
//     "hint: ". With --json the error is an object with code, message and hint.
//   - Text from programs (names, titles, paths, commands) is shown with its
//     control characters escaped, never raw.
//   - Colour only repeats the words, and only on a terminal without NO_COLOR.
package output
