// Package all combines this engine with those of other machines, for the user's clients: it carries
// out calls on the machine that they name. It owns no link; package hosts does.
package all
