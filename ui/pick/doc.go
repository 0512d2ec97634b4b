// Package pick is the history of commands in the terminal of a person's own shell:
// one command is looked for and chosen, to be run there or edited. It is a client
// of the engine for that one search and shows nothing else.
package pick
