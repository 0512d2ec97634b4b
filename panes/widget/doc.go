// Package widget holds the parts shared by panes: fitting text into cells, inks and glyphs,
// headings, hints and empty pages, text inputs, lists of choices, and the words for the state of
// processes and commands. It does not depend on a view, the engine's client or Bubble Tea's
// program.
package widget
