// Package launch starts children for the control loop (supervise). It prepares their command,
// environment and sandbox, and asks the keeper to fork them. If the keeper exits before it answers,
// it finds out what became of the start. A Link is the connection to the keeper, and starts a new
// keeper when that exits. Watching running children belongs to observe.
package launch
