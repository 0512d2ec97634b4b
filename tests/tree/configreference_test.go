package tree

import (
	"fmt"
	"strings"

	"tandem/persist/config/settings"
)

// configReference returns the page about the keys of config.toml.
func configReference() string {
	var b strings.Builder
	b.WriteString(configHead)
	for _, s := range settings.All() {
		holds := "`" + s.Default + "`"
		switch {
		case s.Named():
			holds = ""
		case s.None != "":
			holds = s.None + "; for example `" + s.Example + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Key, holds, strings.ReplaceAll(s.Doc, "\n", " "))
	}
	b.WriteString(configTail)
	return b.String()
}

const configHead = `# Configuration

Every setting of ` + "`config.toml`" + `, made from the table of settings in the program. The file is
` + "`$XDG_CONFIG_HOME/tandem/config.toml`, or `~/.config/tandem/config.toml`" + `. Every key is optional.

| command | does |
|---|---|
| ` + "`tandem config`" + ` | prints where the file is and the settings in effect, defaults included |
| ` + "`tandem config init`" + ` | writes a file with every default in comments; ` + "`--force`" + ` replaces an existing one |
| ` + "`tandem config check [FILE]`" + ` | shows every mistake with its line and a caret, and exits with 1 if there is one; FILE may be a sandbox profile (` + "`.json`" + `), and without FILE it also checks ` + "`policy.toml`" + ` |
| ` + "`tandem config path`" + ` | prints only the path |

` + "```toml" + `
theme  = "tokyo-night"        # or auto, catppuccin-mocha, gruvbox-dark, nord, dracula, solarized-light, terminal …
preset = "tmux"               # keys as in tmux; or zellij
shell  = ["zsh", "-l"]

[keys]                        # action = keys; keys.md lists the actions
"split.beside" = ["v", "%"]
` + "```" + `

In the dashboard, "edit the configuration" in the palette (` + "`ctrl+b :`" + `) opens the file in your editor,
and writes one with every default in comments if there is none.

Changes apply within two seconds, without a restart: colours, keys and mouse in open dashboards, the
rest to whatever starts from then on. Servers for agents read ` + "`agents.sandbox`" + ` when they start.

Tandem keeps the old settings if the file has a mistake, belongs to another user or is writable by
anyone; dashboards show the line. Only ` + "`tandem --serve`" + ` does not start then, because the agents'
sandbox is unknown.

| key | default | meaning |
|---|---|---|
`

const configTail = "\n## Keys of other programs\n" + `
` + "`preset = \"tmux\"`" + ` leaves every key but ctrl+b to programs and has, after the prefix, ` + "`l` (the session shown before), `$` (rename), `&` (kill),\n`w` (list), `W` (close the pane; its session keeps running), `E` (panes of the same size), `pgup` (scroll) and `alt+arrows` (resize)" + `. Views are the prefix and 1 … 4.

` + "`preset = \"zellij\"`" + ` has zellij's direct keys and its leader, ctrl+g. A mode is one key after the leader:

| zellij | here |
|---|---|
| alt+n | a new pane beside this one |
| alt+h j k l, alt+arrows | focus |
| alt+f | zoom the pane |
| alt+i, alt+o | previous, next session (what is a tab there is a session here) |
| alt+- , alt+= | resize |
| ctrl+p n, r, d, x, f, c, p | ctrl+g n, r (beside), d (below), x (kill), f (zoom), c (rename), p (next pane; P is the previous one) |
| ctrl+t n | ctrl+g t: a new session |
| ctrl+s | ctrl+g s: scroll and copy mode |
| ctrl+o w | ctrl+g w: the list of sessions |
| ctrl+o d, ctrl+q | ctrl+g q, ctrl+q: detach; everything keeps running |
| alt+1 … alt+4 | the four views |

Keys in ` + "`[keys]`, `prefix` and `direct_keys = false`" + ` take precedence over a preset.
`
