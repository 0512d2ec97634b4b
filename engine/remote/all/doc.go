// Package all combines this engine with those of other machines, for the user's clients: it carries
// out calls on the machine that they name, merges lists, histories and events, and adds the machines'
// names to ids and paths. It owns no link; package hosts does.
package all
