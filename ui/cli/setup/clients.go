package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// serverName is what Tandem is called in settings.
const serverName = "tandem"

// TokenVariable is the environment variable from which clients take the token
// of a server over HTTP, so that none is kept in settings.
const TokenVariable = "TANDEM_TOKEN"

// A format is how a client writes its settings.
type format int

const (
	formatJSON  format = iota
	formatJSONC        // with comments and trailing commas
	formatTOML
)

// A Client is a program in which agents run.
type Client struct {
	Name  string // as the command line has it
	Title string

	program string   // that is on PATH where the client is installed
	user    place    // the person's settings
	project []string // a project's, in its folder; none: it has no such file
	format  format
	servers []string // where in the settings the servers are
	nested  string   // a member of that which newer versions keep them in, if it is there
	desktop bool     // started from a desktop, with a PATH of its own
	local   func(launch) fields
	remote  func(url string) fields // nil: it has to be given a token in plain text, or cannot at all
}

// A place is a file of settings in a folder: the one that a variable names,
// else the fallback. The first file that exists counts, else the first.
type place struct {
	variable, fallback string
	files              []string
	own                string // a variable that names the folder that the files themselves are in
}

// A launch is how a client starts the server.
type launch struct {
	command string
	args    []string
	env     fields
}

// clients are those that Tandem knows, each with the documentation that its
// row follows.
func clients() []Client {
	in := func(variable, dir, file string) place {
		return place{variable: variable, fallback: dir, files: []string{file}}
	}
	home := func(dir, file string) place { return in("", dir, file) }
	config := func(files ...string) place {
		return place{variable: "XDG_CONFIG_HOME", fallback: "~/.config", files: files}
	}
	return []Client{
		{ // https://code.claude.com/docs/en/mcp, "MCP installation scopes", "Environment variable expansion"
			Name: "claude", Title: "Claude Code", program: "claude",
			user: in("CLAUDE_CONFIG_DIR", "~", ".claude.json"), project: []string{".mcp.json"},
			servers: []string{"mcpServers"},
			local:   func(l launch) fields { return l.typed("stdio") },
			remote:  func(url string) fields { return overHTTP("http", url, "${"+TokenVariable+"}") },
		},
		{ // https://modelcontextprotocol.io/docs/develop/connect-local-servers; servers over HTTP are added in its own dialogs
			Name: "claude-desktop", Title: "Claude Desktop", program: "claude-desktop",
			user: config("Claude/claude_desktop_config.json"), servers: []string{"mcpServers"}, desktop: true,
			local: func(l launch) fields { return l.plain() },
		},
		{ // https://developers.openai.com/codex/mcp; github.com/openai/codex, codex-rs/rmcp-client/src/utils.rs: which variables servers get
			Name: "codex", Title: "Codex", program: "codex",
			user: in("CODEX_HOME", "~/.codex", "config.toml"), project: []string{".codex/config.toml"},
			format: formatTOML, servers: []string{"mcp_servers"},
			local: func(l launch) fields { return l.plain() },
			remote: func(url string) fields {
				return fields{{"url", url}, {"bearer_token_env_var", TokenVariable}}
			},
		},
		{ // https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers; github.com/github/github-mcp-server, docs/installation-guides/install-copilot-cli.md
			Name: "copilot", Title: "Copilot CLI", program: "copilot",
			user: in("COPILOT_HOME", "~/.copilot", "mcp-config.json"), project: []string{".mcp.json", ".github/mcp.json"}, servers: []string{"mcpServers"},
			local: func(l launch) fields { return append(l.typed("local"), field{"tools", []string{"*"}}) },
			remote: func(url string) fields {
				return append(overHTTP("http", url, "${"+TokenVariable+"}"), field{"tools", []string{"*"}})
			},
		},
		{ // https://github.com/charmbracelet/crush, README, "Configuration", "MCPs"; a value is expanded as by a shell
			Name: "crush", Title: "Crush", program: "crush",
			user:    place{"XDG_CONFIG_HOME", "~/.config", []string{"crush/crush.json"}, "CRUSH_GLOBAL_CONFIG"},
			project: []string{".crush.json", "crush.json"}, servers: []string{"mcp"},
			local:  func(l launch) fields { return l.typed("stdio") },
			remote: func(url string) fields { return overHTTP("http", url, "$"+TokenVariable) },
		},
		{ // https://cursor.com/docs/mcp, "Configuration locations", "Config interpolation"
			Name: "cursor", Title: "Cursor", program: "cursor",
			user: home("~/.cursor", "mcp.json"), project: []string{".cursor/mcp.json"},
			format: formatJSONC, servers: []string{"mcpServers"}, desktop: true,
			local:  func(l launch) fields { return l.plain() },
			remote: func(url string) fields { return overHTTP("", url, "${env:"+TokenVariable+"}") },
		},
		{ // github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md and docs/get-started/configuration.md
			Name: "gemini", Title: "Gemini CLI", program: "gemini",
			user: home("~/.gemini", "settings.json"), project: []string{".gemini/settings.json"},
			format: formatJSONC, servers: []string{"mcpServers"},
			local: func(l launch) fields { return l.plain() },
			remote: func(url string) fields {
				return fields{{"httpUrl", url}, authorization("$" + TokenVariable)}
			},
		},
		{ // https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/config; version 2 reads both shapes, https://opencode.ai/docs/migrate-v1
			Name: "opencode", Title: "opencode", program: "opencode",
			user:    config("opencode/opencode.json", "opencode/opencode.jsonc"),
			project: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"},
			format:  formatJSONC, servers: []string{"mcp"}, nested: "servers",
			local: func(l launch) fields {
				all := fields{{"type", "local"}, {"command", append([]string{l.command}, l.args...)}}
				return all.with("environment", l.env)
			},
			remote: func(url string) fields { return overHTTP("remote", url, "{env:"+TokenVariable+"}") },
		},
		{ // https://code.visualstudio.com/docs/agents/reference/mcp-configuration; predefined variables, those of the environment among them: .../docs/reference/variables-reference
			Name: "vscode", Title: "VS Code", program: "code",
			user: config("Code/User/mcp.json"), project: []string{".vscode/mcp.json"},
			format: formatJSONC, servers: []string{"servers"}, desktop: true,
			local:  func(l launch) fields { return l.typed("stdio") },
			remote: func(url string) fields { return overHTTP("http", url, "${env:"+TokenVariable+"}") },
		},
		{ // https://zed.dev/docs/ai/mcp, "As Custom Servers"
			Name: "zed", Title: "Zed", program: "zed",
			user: config("zed/settings.json"), project: []string{".zed/settings.json"},
			format: formatJSONC, servers: []string{"context_servers"}, desktop: true,
			local: func(l launch) fields { return l.plain() },
		},
	}
}

// plain is a server with a command, arguments and, if need be, an environment.
func (l launch) plain() fields {
	return fields{{"command", l.command}, {"args", l.args}}.with("env", l.env)
}

// typed is plain, with a member that names the kind of server.
func (l launch) typed(kind string) fields { return append(fields{{"type", kind}}, l.plain()...) }

// overHTTP is a server at a URL; kind is "" where the client needs none.
func overHTTP(kind, url, token string) fields {
	all := fields{{"url", url}, authorization(token)}
	if kind != "" {
		all = append(fields{{"type", kind}}, all...)
	}
	return all
}

func authorization(token string) field {
	return field{"headers", fields{{"Authorization", "Bearer " + token}}}
}

// owned are the members of a server that setup decides on; what else a person
// has written there stays.
func owned() []string {
	return []string{"type", "command", "args", "env", "environment", "url", "httpUrl", "headers", "bearer_token_env_var"}
}

// Clients are the clients that Tandem knows, by name.
func Clients() []Client { return clients() }

// ClientNames returns the clients' names for the command line, sorted.
func ClientNames() (names []string) {
	for _, c := range clients() {
		names = append(names, c.Name)
	}
	return names
}

// FindClient returns the client with a name; ok is false if there is none.
func FindClient(name string) (c Client, ok bool) {
	all := clients()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// HasProject reports whether projects have settings of their own for a client.
func (c Client) HasProject() bool { return len(c.project) > 0 }

// TakesHTTP reports whether a client can be told of a server over HTTP without
// a token in plain text.
func (c Client) TakesHTTP() bool { return c.remote != nil }

// path is the file of a client's settings: the person's, or a project's.
func (m Machine) path(c Client, project bool) string {
	if project {
		return firstOf(m.Dir, c.project)
	}
	return m.file(c.user)
}

// file is that of a place.
func (m Machine) file(p place) string {
	if own := m.Env(p.own); p.own != "" && filepath.IsAbs(own) {
		return filepath.Join(own, filepath.Base(p.files[0]))
	}
	return firstOf(m.folder(p), p.files)
}

// firstOf is the first of some files in a folder that exists, else the first.
func firstOf(dir string, files []string) string {
	for _, file := range files {
		if path := filepath.Join(dir, file); exists(path) {
			return path
		}
	}
	return filepath.Join(dir, files[0])
}

// folder is where a place is on a machine.
func (m Machine) folder(p place) string {
	if dir := m.Env(p.variable); p.variable != "" && filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, strings.TrimPrefix(p.fallback, "~"))
}

// found reports whether a program seems to be installed: it or its settings are there.
func (m Machine) found(program, settings string) bool {
	dir := filepath.Dir(settings)
	return m.lookPath(program) != "" || exists(settings) || dir != filepath.Clean(m.Home) && exists(dir)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
