// Package conn connects the dashboard to the engine: a Link follows the engine's
// events, feeds panes from their sessions and connects again when the engine
// goes; a Client asks the engine through its API. What is done with the news is
// the dashboard's business.
package conn
