// Package host is the executor of the control loop (supervise): it starts, finds, revives and ends
// children, and owns their records, sessions and process trees. Package launch starts the children,
// and package observe watches them. Children and PTY masters belong to the keeper, so they survive
// the engine.
package host
