// Package widget holds what panes share: how text fits into cells, inks and
// glyphs, headings, hints and empty pages, a line of text that is edited, a
// list to choose from, and the words for how a process or command is doing.
// Nothing in it knows a view, the engine's client or Bubble Tea's program.
package widget
