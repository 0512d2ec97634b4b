// Package supervise is the engine's control loop: one goroutine that owns the
// state of all processes, driven by a table of state × event, with the restart
// policy and the leases of what agents own. What it brings about it asks of a
// World, which starts and ends children; others ask it by requests.
package supervise
