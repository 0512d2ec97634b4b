// Package conn connects the dashboard to the engine. A Link follows the engine's events, feeds
// panes with their sessions' output, and reconnects when the engine dies. A Client calls the
// engine's API. The dashboard decides how news is shown.
package conn
