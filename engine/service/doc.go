// Package service serves the operations of the API: one type for each family, holding its
// dependencies, with a method Handle registering its handlers. A handler checks the input and
// passes it on: sessions and processes belong to engine/supervise and engine/terminal, and access
// is decided earlier, in engine/access.
package service
