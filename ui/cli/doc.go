// Package cli is the command line: each verb is a call of the engine's API and
// a way to print its answer, as text for people or, with --json, as the API has
// it. Without a command it opens the dashboard.
package cli
