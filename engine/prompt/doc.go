// Package prompt is about the shell in a session and the prompt it is at: the scripts that make interactive shells mark
// their prompts, commands and outputs (OSC 133 and 633), what these marks tell, command lines that are run between two
// prompts, and what a session waits for. The terminal that a shell has is an interface here; who may use it is not
// asked.
package prompt
