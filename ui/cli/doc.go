// Package cli implements the command line. Each command calls the engine's API and prints the
// answer as text, or as the API's JSON with --json. Without a command it opens the dashboard.
// Larger commands have packages of their own below this one.
package cli
