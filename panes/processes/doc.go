// Package processes is the view of processes: a table, charts and the log of the process under the
// cursor.
package processes
