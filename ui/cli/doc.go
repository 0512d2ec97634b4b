// Package cli puts the command line together: the root command, the flags that choose machines, and
// the shell that runs commands at a prompt. Each command calls the engine's API and prints the
// answer as text, or as the API's JSON with --json. Without a command, Tandem opens the dashboard.
// The commands are in packages below this one, each a function NewX that takes a factory.Factory.
package cli
