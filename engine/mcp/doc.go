// Package mcp is how agents use Tandem: a server of the Model Context
// Protocol (modelcontextprotocol.io) over standard input and output or HTTP.
// Every tool is a thin adapter over the engine's API; nothing is kept here that
// an agent would miss when this process ends.
package mcp
