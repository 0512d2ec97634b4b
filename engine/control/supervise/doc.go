// Package supervise is the engine's control loop: one goroutine owns the state of all processes,
// and a table of state × event decides what happens to them. Restart policies, dependencies, and
// the leases on agents' processes belong here. An Executor does the work on the system, and other
// goroutines send requests.
package supervise
