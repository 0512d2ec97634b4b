// Package service implements the operations of the API: one type for each family, holding its
// dependencies, with a method Handle registering its handlers. A handler checks the input and
// passes it on: sessions and processes belong to engine/control/supervise and engine/session/terminal, and access
// is decided earlier, in engine/agent/access.
package service
