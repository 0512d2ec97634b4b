package prompt

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"tandem/tests/needs"
)

// A framework is a prompt framework: commands in a file that set the prompt of a shell.
type framework struct{ name, shell, file string }

// frameworks contains the essential hooks of prompt frameworks: the variables they assign, the
// functions they run before prompts and commands, and prompts that differ from those of a plain
// shell.
var frameworks = []framework{
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

// shellCase returns a shell with the framework. The shell reads the framework when it starts or, if
// sourced is set, later from the file theme.
func (f framework) shellCase(sourced bool) shellCase {
	c := caseOf(f.shell)
	c.files = maps.Clone(c.files)
	c.files[".bash_profile"] = ". ~/.bashrc\n"
	name := map[string]string{"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}[f.shell]
	if sourced {
		name = "theme"
	}
	c.files[name] = f.file
	return c
}

// runUnderFramework runs commands. Only the exit status of the first one may be unknown.
func runUnderFramework(s *session) {
	s.t.Helper()
	s.wantStatus("false", s.sh("false"), 1)
	s.wantRun("echo one", "one\n", 0)
	s.wantRun("sh -c 'exit 3'", "", 3)
	s.wantRun("sh -c 'echo two; exit 4'", "two\n", 4)
	s.awaitPrompt()
	want := map[string]int{"false": 1, "echo one": 0, "sh -c 'exit 3'": 3, "sh -c 'echo two; exit 4'": 4}
	all := s.commands(len(want))
	for line := range want {
		if !slices.Contains(linesOf(all), line) {
			s.t.Errorf("%q is not among %+v\nlog %q", line, all, s.logEnd())
		}
	}
	for _, r := range all {
		if code, ok := want[r.Line]; ok && r.ExitCode != nil && *r.ExitCode != code {
			s.t.Errorf("reported %+v", r)
		}
	}
}

func TestShellsWorkUnderPromptFrameworks(t *testing.T) {
	for _, f := range frameworks {
		for name, enter := range map[string]string{
			"sourced": "source ./theme", "exec": "exec " + f.shell, "exec login shell": "exec " + f.shell + " -l", "exec with a dash": "exec -a -" + f.shell + " " + f.shell,
		} {
			if f.shell == "fish" && strings.HasPrefix(enter, "exec -a") {
				continue // its exec has no -a
			}
			t.Run(f.shell+" "+f.name+" "+name, func(t *testing.T) {
				replayShell(t, f.shellCase(name == "sourced"), func(s *session) {
					s.wantStatus(enter, s.sh(enter), 0)
					runUnderFramework(s)
				})
			})
		}
	}
}

// Prompt frameworks and the scripts of this package change the same hooks of a shell.
func TestScriptsWorkWithPromptFrameworks(t *testing.T) {
	needs.FullRun(t)
	for _, f := range frameworks {
		t.Run(f.shell+" "+f.name, func(t *testing.T) {
			t.Parallel()
			runUnderFramework(startLive(t, f.shellCase(false)))
		})
	}
}
