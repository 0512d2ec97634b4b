// Package supervise is the engine's control loop: one goroutine owns the state of all processes and
// follows a table of state × event. Restart policies, dependencies, and the leases on agents'
// processes belong here. An Executor does the work on the system; other goroutines send requests.
package supervise
