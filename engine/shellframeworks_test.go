package engine

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/needs"
)

// frameworks holds the essential hooks of prompt frameworks: the variables they assign, the
// functions they run before prompts and commands, and prompts unlike those of a plain shell.
var frameworks = []struct{ name, shell, file string }{
	{"functions in lists", "bash", `
precmd_functions=() preexec_functions=()
lists_status() { return "${1:-0}"; }
lists_prompt() {
	local code=$? f
	inside=yes
	for f in "${precmd_functions[@]}"; do lists_status "$code"; "$f"; done
	lists_status "$code"
}
lists_command() {
	[[ -n $inside || -n ${COMP_LINE-} ]] && return
	inside=yes
	local f
	for f in "${preexec_functions[@]}"; do "$f" "$BASH_COMMAND"; done
}
trap 'lists_command "$_"' DEBUG
PROMPT_COMMAND="lists_prompt"$'\n'"${PROMPT_COMMAND-}"$'\n''inside='
title() { printf '\e]0;%s\a' "$PWD"; }
colour() { seen=$?; PS1="\[\e[32m\]\w\[\e[0m\] λ "; }
precmd_functions+=(title colour)
`},
	{"prompt of a program", "bash", `
draw() { seen=$?; PS1="\n\w [$seen]\n\[\e[1;32m\]❯\[\e[0m\] "; }
PS0='${begun:$((begun=SECONDS, 0)):0}'
PS2='∙ '
PROMPT_COMMAND="${PROMPT_COMMAND:+${PROMPT_COMMAND%;};}draw"
`},
	{"theme before all", "bash", `
theme() { PS1="┌─[\u]─[\w]\n└─▪ "; }
append() { PROMPT_COMMAND="$1; ${PROMPT_COMMAND-}"; }
append 'history -a'
append theme
`},
	{"array of its own", "bash", `
vte() { printf '\e]0;%s\a' "$PWD"; true; }
PROMPT_COMMAND=(vte 'history -a')
PS1='[\u \W]» '
`},
	{"hooks by add-zsh-hook", "zsh", `
setopt prompt_subst
autoload -Uz add-zsh-hook
branch() { print -n ' git:(main)' }
before() { seen=$?; true }
after() { print -Pn '\e]0;%~\a' }
add-zsh-hook precmd before
add-zsh-hook precmd after
add-zsh-hook preexec after
PROMPT='%(?:%F{green}➜ :%F{red}➜ ) %c$(branch) '
`},
	{"hooks of its own", "zsh", `
setopt prompt_subst
draw() { seen=$?; drawn="%~ [$seen]" }
preexec_functions=(true)
precmd_functions=(draw)
PROMPT='$drawn
❯ '
RPROMPT='%*'
PROMPT2='∙ '
zle-line-init() { true }
zle -N zle-line-init
`},
	{"prompt of a program", "fish", `
function fish_prompt
	set -g seen $status
	printf '\n%s [%s]\n❯ ' $PWD $seen
end
function fish_right_prompt
	date +%H
end
function title --on-event fish_prompt
	true
end
`},
}

// runUnderFramework runs commands. Only the first one's exit status may be unknown.
func runUnderFramework(t *testing.T, m *machine, id string) {
	t.Helper()
	wantStatus(t, "false", m.sh(id, "false"), 1)
	wantRun(m, id, "echo one", "one\n", 0)
	wantRun(m, id, "sh -c 'exit 3'", "", 3)
	wantRun(m, id, "sh -c 'echo two; exit 4'", "two\n", 4)
	if w := m.sessionWait(api.SessionWaitInput{ID: id, Prompt: true}); w.Met != "prompt" {
		t.Errorf("wait for the prompt: %+v", w)
	}
	want := map[string]int{"false": 1, "echo one": 0, "sh -c 'exit 3'": 3, "sh -c 'echo two; exit 4'": 4}
	m.eventually("the commands in the history", func() bool {
		lines := m.commands(id)
		return !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(line string) bool { return !slices.Contains(lines, line) })
	})
	for _, r := range m.history(api.HistorySearchInput{Process: id, Limit: 100}) {
		if code, ok := want[r.Command.Command]; ok && r.ExitCode != nil && *r.ExitCode != code {
			t.Errorf("history has %+v", r.Command)
		}
	}
}

func TestShellsWorkUnderPromptFrameworks(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	files := map[string]string{"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
	for _, f := range frameworks {
		for _, enter := range []string{"", "source", "exec " + f.shell, "exec $SHELL -l", "exec -a -" + f.shell + " " + f.shell} {
			if f.shell == "fish" && enter == "exec -a -fish fish" {
				continue // its exec has no -a
			}
			t.Run(f.shell+" "+f.name+" "+enter, func(t *testing.T) {
				m := &machine{TB: t, dir: m.dir, client: m.client}
				i := slices.IndexFunc(shellCases, func(c shellCase) bool { return c.name == f.shell })
				c := shellCase{f.shell, []string{f.shell}, maps.Clone(shellCases[i].rc)}
				if enter != "source" {
					c.rc[files[f.shell]] = f.file
					c.rc[".bash_profile"] = ". ~/.bashrc\n"
				}
				p := c.start(m)
				if p == nil {
					return
				}
				switch enter {
				case "":
				case "source":
					writeFile(m, filepath.Join(p.CWD, "theme"), f.file)
					wantStatus(t, enter, m.sh(p.ID, "source ./theme"), 0)
				default:
					wantStatus(t, enter, m.sh(p.ID, strings.ReplaceAll(enter, "$SHELL", f.shell)), 0)
				}
				runUnderFramework(t, m, p.ID)
			})
		}
	}
}
