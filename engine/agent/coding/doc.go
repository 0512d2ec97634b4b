// Package coding detects the coding agent in a session and its state: working, blocked on a
// question, done, idle or unknown. The look of each agent is data (rules/*.toml, and the user's own
// rules beside them). This package combines the signs. It inspects a session only after its screen
// changed or its agent exited, and never concludes anything from silence.
package coding
