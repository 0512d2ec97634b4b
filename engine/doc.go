// Package engine wires an engine: its options, the lock on the data folder, the link
// to the keeper, and the world that the control loop (supervise) acts on. Children
// and terminals are started, found again and ended here, in the loop's workers.
// What clients call is in service, who may call it in access. Children and PTY
// masters belong to the keeper, so nothing is lost when an engine ends.
package engine
