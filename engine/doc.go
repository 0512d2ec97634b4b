// Package engine assembles an engine: options, the lock on the data directory, its upgrade, the
// services, and the host of its children. Operations belong to service, access to access.
package engine
