// Package service serves the operations of the API: a type for each family, with what
// it needs, whose Handle registers its handlers. A handler checks what it is asked
// for and hands it on; sessions and processes belong to engine/supervise and
// engine/terminal, and who may call what is decided in engine/access before.
package service
