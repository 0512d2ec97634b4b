// Package engine assembles an engine: options, the lock on the data directory, the services, and the
// host: the executor of the control loop (supervise). The host owns records, sessions and the trees
// of processes; launch starts children and observe watches them. Operations belong to service,
// access to access. Children and PTY masters belong to the keeper, so they survive the engine.
package engine
