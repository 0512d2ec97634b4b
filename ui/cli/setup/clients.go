package setup

import (
	"os"
	"path/filepath"
	"strings"
)

// serverName is Tandem's name in the settings of clients, and its executable's name.
const serverName = "tandem"

// TokenVariable is the environment variable from which clients read the token
// for a server over HTTP. It keeps the token out of their settings.
const TokenVariable = "TANDEM_TOKEN"

// A format is the syntax of a client's settings.
type format int

const (
	formatJSON  format = iota
	formatJSONC        // with comments and trailing commas
	formatTOML
)

// A Client is a program that runs agents and can use Tandem as an MCP server.
type Client struct {
	Name  string // on Tandem's command line
	Title string

	program      string   // name of its executable in PATH
	userFile     location // the user's settings
	projectFiles []string // a project's settings, relative to its directory; none if unsupported
	format       format
	serversPath  []string                // key path of the servers in the settings
	nestedName   string                  // member of serversPath with the servers in newer versions; may be missing
	profile      string                  // set of tools unless the user chooses; "" is the server's default
	desktop      bool                    // started from a desktop, with a PATH of its own
	local        func(launch) fields     // returns the entry for a server started by the client
	remote       func(url string) fields // returns the entry for a server over HTTP; nil if impossible without a plain-text token
	own          *ownCommands            // nil if the program cannot change its settings by a command
}

// ownCommands are the commands of a client's program that change its settings. The functions return
// the arguments for a scope, user or project. The command of Gemini CLI is not used, because it
// replaces the variables in the entries of all servers by their values. The commands of Copilot CLI
// and opencode are not used either, because they ask questions.
type ownCommands struct {
	project bool // the program can change a project's settings too
	add     func(scope string, entry fields) []string
	remove  func(scope string) []string // nil if the program cannot remove a server
}

// A location lists alternative settings files, relative to the directory in
// baseVariable or, if that is unset, defaultBase. The first existing file counts;
// if there is none, the first in the list.
type location struct {
	baseVariable, defaultBase string
	files                     []string
	dirVariable               string // environment variable with the files' own directory; has precedence
}

// A launch is the command and environment with which a client starts the server.
type launch struct {
	command string
	args    []string
	env     fields
}

// Clients returns all supported clients, sorted by name. The comment of each row
// links to the client's documentation of its settings.
func Clients() []Client {
	in := func(variable, dir, file string) location {
		return location{baseVariable: variable, defaultBase: dir, files: []string{file}}
	}
	home := func(dir, file string) location { return in("", dir, file) }
	config := func(files ...string) location {
		return location{baseVariable: "XDG_CONFIG_HOME", defaultBase: "~/.config", files: files}
	}
	return []Client{
		{ // https://code.claude.com/docs/en/mcp, "MCP installation scopes", "Environment variable expansion"
			Name: "claude", Title: "Claude Code", program: "claude",
			userFile: in("CLAUDE_CONFIG_DIR", "~", ".claude.json"), projectFiles: []string{".mcp.json"},
			serversPath: []string{"mcpServers"},
			profile:     "terminal-tools", // it has file tools itself
			local:       func(l launch) fields { return l.serverOfType("stdio") },
			remote:      func(url string) fields { return httpServer("http", url, "${"+TokenVariable+"}") },
			own: &ownCommands{
				project: true,
				add: func(scope string, entry fields) []string {
					return []string{"mcp", "add-json", "--scope", scope, serverName, compactJSON(entry)}
				},
				remove: func(scope string) []string { return []string{"mcp", "remove", "--scope", scope, serverName} },
			},
		},
		{ // https://modelcontextprotocol.io/docs/develop/connect-local-servers; servers over HTTP can be added only in its dialogs
			Name: "claude-desktop", Title: "Claude Desktop", program: "claude-desktop",
			userFile: config("Claude/claude_desktop_config.json"), serversPath: []string{"mcpServers"}, desktop: true,
			local: func(l launch) fields { return l.plainServer() },
		},
		{ // https://developers.openai.com/codex/mcp; github.com/openai/codex, codex-rs/rmcp-client/src/utils.rs (variables passed to servers)
			Name: "codex", Title: "Codex", program: "codex",
			userFile: in("CODEX_HOME", "~/.codex", "config.toml"), projectFiles: []string{".codex/config.toml"},
			format: formatTOML, serversPath: []string{"mcp_servers"},
			local: func(l launch) fields { return l.plainServer() },
			remote: func(url string) fields {
				return fields{{"url", url}, {"bearer_token_env_var", TokenVariable}}
			},
			own: &ownCommands{
				add:    codexAdd,
				remove: func(string) []string { return []string{"mcp", "remove", serverName} },
			},
		},
		{ // https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers; github.com/github/github-mcp-server, docs/installation-guides/install-copilot-cli.md
			Name: "copilot", Title: "Copilot CLI", program: "copilot",
			userFile: in("COPILOT_HOME", "~/.copilot", "mcp-config.json"), projectFiles: []string{".mcp.json", ".github/mcp.json"}, serversPath: []string{"mcpServers"},
			local: func(l launch) fields { return append(l.serverOfType("local"), field{"tools", []string{"*"}}) },
			remote: func(url string) fields {
				return append(httpServer("http", url, "${"+TokenVariable+"}"), field{"tools", []string{"*"}})
			},
		},
		{ // https://github.com/charmbracelet/crush, README, "Configuration", "MCPs"; values are expanded as in a shell
			Name: "crush", Title: "Crush", program: "crush",
			userFile:     location{"XDG_CONFIG_HOME", "~/.config", []string{"crush/crush.json"}, "CRUSH_GLOBAL_CONFIG"},
			projectFiles: []string{".crush.json", "crush.json"}, serversPath: []string{"mcp"},
			local:  func(l launch) fields { return l.serverOfType("stdio") },
			remote: func(url string) fields { return httpServer("http", url, "$"+TokenVariable) },
		},
		{ // https://cursor.com/docs/mcp, "Configuration locations", "Config interpolation"
			Name: "cursor", Title: "Cursor", program: "cursor",
			userFile: home("~/.cursor", "mcp.json"), projectFiles: []string{".cursor/mcp.json"},
			format: formatJSONC, serversPath: []string{"mcpServers"}, desktop: true,
			local:  func(l launch) fields { return l.plainServer() },
			remote: func(url string) fields { return httpServer("", url, "${env:"+TokenVariable+"}") },
		},
		{ // github.com/google-gemini/gemini-cli, docs/tools/mcp-server.md and docs/get-started/configuration.md
			Name: "gemini", Title: "Gemini CLI", program: "gemini",
			userFile: home("~/.gemini", "settings.json"), projectFiles: []string{".gemini/settings.json"},
			format: formatJSONC, serversPath: []string{"mcpServers"},
			local: func(l launch) fields { return l.plainServer() },
			remote: func(url string) fields {
				return fields{{"httpUrl", url}, authorizationHeader("$" + TokenVariable)}
			},
		},
		{ // https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/config; version 2 reads both shapes, https://opencode.ai/docs/migrate-v1
			Name: "opencode", Title: "opencode", program: "opencode",
			userFile:     config("opencode/opencode.json", "opencode/opencode.jsonc"),
			projectFiles: []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"},
			format:       formatJSONC, serversPath: []string{"mcp"}, nestedName: "servers",
			local: func(l launch) fields {
				all := fields{{"type", "local"}, {"command", append([]string{l.command}, l.args...)}}
				return all.withMembers("environment", l.env)
			},
			remote: func(url string) fields { return httpServer("remote", url, "{env:"+TokenVariable+"}") },
		},
		{ // https://code.visualstudio.com/docs/agents/reference/mcp-configuration; variables in values, including ${env:X}: .../docs/reference/variables-reference
			Name: "vscode", Title: "VS Code", program: "code",
			userFile: config("Code/User/mcp.json"), projectFiles: []string{".vscode/mcp.json"},
			format: formatJSONC, serversPath: []string{"servers"}, desktop: true,
			local:  func(l launch) fields { return l.serverOfType("stdio") },
			remote: func(url string) fields { return httpServer("http", url, "${env:"+TokenVariable+"}") },
			own: &ownCommands{
				add: func(_ string, entry fields) []string {
					return []string{"--add-mcp", compactJSON(append(fields{{"name", serverName}}, entry...))}
				},
			},
		},
		{ // https://zed.dev/docs/ai/mcp, "As Custom Servers"
			Name: "zed", Title: "Zed", program: "zed",
			userFile: config("zed/settings.json"), projectFiles: []string{".zed/settings.json"},
			format: formatJSONC, serversPath: []string{"context_servers"}, desktop: true,
			local: func(l launch) fields { return l.plainServer() },
		},
	}
}

// codexAdd returns the arguments with which Codex adds a server.
func codexAdd(_ string, entry fields) []string {
	args := []string{"mcp", "add", serverName}
	if url, ok := entry.get("url").(string); ok {
		return append(args, "--url", url, "--bearer-token-env-var", TokenVariable)
	}
	env, _ := entry.get("env").(fields)
	for _, variable := range env.pairs() {
		args = append(args, "--env", variable)
	}
	command, _ := entry.get("command").(string)
	words, _ := entry.get("args").([]string)
	return append(append(args, "--", command), words...)
}

// plainServer returns an entry with a command, arguments and, unless it is empty, an environment.
func (l launch) plainServer() fields {
	return fields{{"command", l.command}, {"args", l.args}}.withMembers("env", l.env)
}

func (l launch) serverOfType(kind string) fields {
	return append(fields{{"type", kind}}, l.plainServer()...)
}

// httpServer returns an entry for the server at url. token is the client's notation for the
// variable with the token; an empty kind omits the type.
func httpServer(kind, url, token string) fields {
	all := fields{{"url", url}, authorizationHeader(token)}
	if kind != "" {
		all = append(fields{{"type", kind}}, all...)
	}
	return all
}

func authorizationHeader(token string) field {
	return field{"headers", fields{{"Authorization", "Bearer " + token}}}
}

// serverMemberNames returns the names of the members of a server's entry managed
// by setup. All others belong to the user and are kept.
func serverMemberNames() []string {
	return []string{"type", "command", "args", "env", "environment", "url", "httpUrl", "headers", "bearer_token_env_var"}
}

// ClientNames returns the clients' names for the command line, sorted.
func ClientNames() (names []string) {
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// FindClient returns the client with a name; ok is false if there is none.
func FindClient(name string) (c Client, ok bool) {
	for _, c := range Clients() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// HasProject reports whether a client reads settings from a project's directory.
func (c Client) HasProject() bool { return len(c.projectFiles) > 0 }

// TakesHTTP reports whether a client can use a server over HTTP and read its token
// from an environment variable.
func (c Client) TakesHTTP() bool { return c.remote != nil }

// settingsPath returns the path of a client's settings: the project's or the user's.
func (m Machine) settingsPath(c Client, project bool) string {
	if project {
		return firstExisting(m.Dir, c.projectFiles)
	}
	return m.resolveLocation(c.userFile)
}

func (m Machine) resolveLocation(l location) string {
	if dir := m.Env(l.dirVariable); l.dirVariable != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.Base(l.files[0]))
	}
	return firstExisting(m.baseDir(l), l.files)
}

// firstExisting returns the path of the first of files that exists in dir. If none does, it returns
// the path for the first name.
func firstExisting(dir string, files []string) string {
	for _, file := range files {
		if path := filepath.Join(dir, file); pathExists(path) {
			return path
		}
	}
	return filepath.Join(dir, files[0])
}

// baseDir returns the directory of l's files. A relative path in baseVariable is ignored.
func (m Machine) baseDir(l location) string {
	if dir := m.Env(l.baseVariable); l.baseVariable != "" && filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, strings.TrimPrefix(l.defaultBase, "~"))
}

// isInstalled reports whether a client or agent seems to be installed: its program is in PATH, or its
// settings or their directory exist.
func (m Machine) isInstalled(program, settings string) bool {
	// The home directory always exists: as the directory of ~/.claude.json, it proves nothing.
	dir := filepath.Dir(settings)
	return m.LookPath(program) != "" || pathExists(settings) || dir != filepath.Clean(m.Home) && pathExists(dir)
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
