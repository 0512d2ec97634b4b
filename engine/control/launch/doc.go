// Package launch starts children for the control loop (supervise). It decides on their command,
// environment and sandbox, has the keeper fork them, and finds out what became of a start whose
// keeper exited. A Link keeps the connection to the keeper and replaces one that exits. Watching
// running children belongs to observe.
package launch
