// Package engine assembles an engine: options, the lock on the data directory, the link to the
// keeper, and the executor of the control loop (supervise). Children and terminals are started,
// recovered and stopped here, in the loop's workers. Operations belong to service, access to
// access. Children and PTY masters belong to the keeper, so they survive the engine.
package engine
