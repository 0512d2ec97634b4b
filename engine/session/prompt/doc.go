// Package prompt follows the shell in a session: it provides the scripts that make interactive
// shells mark their prompts, commands and outputs (OSC 133 and 633), interprets these marks, runs
// command lines between two prompts, and detects when a session waits for input. The shell's
// terminal is an interface; callers check permissions.
package prompt
