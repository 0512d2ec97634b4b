// Package keymap says what keys mean in the dashboard: the catalogue of
// actions, the scopes in which they have keys, bindings with their presets,
// the resolver, and what help, hints and the page of keys show of them.
package keymap
