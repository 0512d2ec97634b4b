// Package host is the executor of the control loop (supervise): it starts, finds, revives and ends
// children, and owns their records, sessions and trees. launch starts children, and observe watches
// them. Children and PTY masters belong to the keeper, so they survive the engine.
package host
