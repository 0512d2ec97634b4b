// Package keymap defines the meaning of keys in the dashboard: the catalogue of actions, scopes,
// bindings and presets, and the resolver. It also provides the contents of help, hints and the list
// of keys after the prefix.
package keymap
