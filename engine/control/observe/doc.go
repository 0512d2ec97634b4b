// Package observe watches running children for the control loop (supervise): their exits, logs and
// readiness. Starting them belongs to launch.
package observe
