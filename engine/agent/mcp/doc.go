// Package mcp serves agents: it implements the Model Context Protocol (modelcontextprotocol.io)
// over standard input and output or over HTTP, and passes the engine's operations on to HTTP
// clients. Tools are thin adapters over the engine's API. The server keeps no state of value to an
// agent beyond its own process.
package mcp
