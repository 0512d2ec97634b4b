// Package panes holds the kinds of pane that the dashboard shows and the
// widgets they share: the live terminal, the session list, the table of
// processes with the log of one, and the page of a view that is still empty. A
// pane is a plain struct with methods that change it and a Draw that gives its
// rows; it knows nothing of Bubble Tea, of the split tree it stands in, or of
// how its data arrives.
package panes
