package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// builtins are the words bash does not look up as programs. true and false are builtins too, but
// alone they do the same as the programs.
var builtins = strings.Fields(`
	. : [ [[ alias bg bind break builtin caller case cd chdir command compgen complete compopt continue
	coproc declare dirs disown do done echo elif else enable esac eval exec exit export fc fg fi for
	function getopts hash help history if in jobs kill let local logout mapfile newgrp popd printf pushd
	pwd read readarray readonly return select set shift shopt source suspend test then time times trap
	type typeset ulimit umask unalias unset until wait while`)

// CommandShell returns the shell for command lines: bash, or sh without bash.
var CommandShell = sync.OnceValue(func() string {
	if _, err := exec.LookPath("bash"); err != nil {
		return "sh"
	}
	return "bash"
})

// Direct returns the words of a command line that a shell would only pass on: one program on disk,
// with arguments needing no expansion. argv is bash with -c and the line, env its environment, cwd
// its working directory. ok is false if bash might do more than become the program. Bash's warning
// about a missing locale is not printed.
//
// Make does the same. It saves the start of the shell, which takes longer than that of most
// programs.
func Direct(argv, env []string, cwd string) (words []string, ok bool) {
	if len(argv) != 3 || argv[1] != "-c" || !isInertEnv(env, cwd) {
		return nil, false
	}
	if filepath.Base(argv[0]) != "bash" { // sh can be anything
		return nil, false
	}
	return Words(argv[2])
}

// Words returns the words of a line that makes bash and sh do no more than run a program.
func Words(line string) (words []string, ok bool) {
	words, ok = splitPlain(line)
	return words, ok && len(words) > 0 && isProgram(words)
}

func isProgram(words []string) bool {
	name := words[0]
	if name == "true" || name == "false" {
		return len(words) == 1
	}
	if strings.Contains(name, "/") && !isCanonicalPath(name) {
		return false
	}
	return canNameProgram(name) && !strings.Contains(name, "=") && !slices.Contains(builtins, name)
}

// isCanonicalPath reports whether a path is absolute and clean. It then means the same in every
// directory, and bash passes it to the program unchanged.
func isCanonicalPath(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// isInertEnv reports whether bash with this environment would do nothing by itself, and pass the
// environment on with only the changes of Environ.
func isInertEnv(env []string, cwd string) bool {
	path := false
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		// With these, bash runs files or behaves differently from its start.
		case "BASH_ENV", "BASH_XTRACEFD", "BASH_COMPAT", "EXECIGNORE",
			"SSH_CLIENT", "SSH2_CLIENT": // bash may read the user's startup files
			return false
		case "BASH", "BASHOPTS", "BASHPID", "BASH_ARGV0", "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_SUBSHELL",
			"BASH_VERSINFO", "BASH_VERSION", "COMP_WORDBREAKS", "EPOCHREALTIME", "EPOCHSECONDS", "HISTCMD", "IFS",
			"LINENO", "OPTERR", "OPTIND", "PPID", "PS4", "RANDOM", "SECONDS", "SHELLOPTS", "SRANDOM":
			return false // bash sets these itself and passes them on
		case "PATH":
			if path = hasCanonicalDirs(value); !path {
				return false
			}
		case "OLDPWD":
			if !filepath.IsAbs(value) {
				return false
			}
		case "PWD":
			if value != cwd {
				return false
			}
		case "SHLVL":
			if n, err := strconv.Atoi(value); err != nil || n < 0 || n >= 999 || strconv.Itoa(n) != value {
				return false
			}
		}
		if !syntax.ValidName(name) { // a function, for example
			return false
		}
	}
	return path
}

// hasCanonicalDirs reports whether each directory in a PATH is canonical. Otherwise the program found
// would depend on the working directory, or get another name than from bash.
func hasCanonicalDirs(path string) bool {
	for dir := range strings.SplitSeq(path, ":") {
		if !isCanonicalPath(dir) {
			return false
		}
	}
	return true
}

// Environ returns the environment of the program at path after bash has become it, given bash's
// environment.
func Environ(env []string, path string) []string {
	level := false
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "SHLVL":
			level = true
		case "_", "PS1", "PS2":
			return true
		case "OLDPWD":
			info, err := os.Stat(value)
			return err != nil || !info.IsDir()
		}
		return false
	})
	if !level {
		env = append(env, "SHLVL=0")
	}
	return append(env, "_="+path)
}

// splitPlain splits a line into words if a shell would do nothing but remove quotes.
func splitPlain(line string) (words []string, ok bool) {
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		word, n := splitWord(line[i:])
		if n == 0 {
			return nil, false
		}
		words, i = append(words, word), i+n
	}
	return words, true
}

// splitWord returns the first word of line and its length there; 0 if a shell would interpret it.
func splitWord(line string) (word string, n int) {
	var b strings.Builder
	for n < len(line) && line[n] != ' ' && line[n] != '\t' {
		c := line[n]
		switch {
		case c == '\'' || c == '"':
			text, _, closed := strings.Cut(line[n+1:], string(c))
			// Inside double quotes, these characters keep a meaning for the shell.
			if !closed || strings.IndexByte(text, 0) >= 0 || c == '"' && strings.ContainsAny(text, "$`\\!") {
				return "", 0
			}
			b.WriteString(text)
			n += len(text) + 2
		case isPlain(c):
			b.WriteByte(c)
			n++
		default:
			return "", 0
		}
	}
	return b.String(), n
}

// isPlain reports whether c stands for itself outside quotes, at any position.
func isPlain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("_-+=.,:/@%", c) >= 0
}

// canNameProgram reports whether the first word may name a program.
func canNameProgram(word string) bool {
	if word == "" {
		return false
	}
	c := word[0]
	return c == '/' || c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
