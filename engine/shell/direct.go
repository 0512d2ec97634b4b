package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// own are the words that bash takes for itself at the beginning of a command. true and false are two as well, but alone they do what the programs
// of these names do.
var own = strings.Fields(`
	. : [ [[ alias bg bind break builtin caller case cd chdir command compgen complete compopt continue
	coproc declare dirs disown do done echo elif else enable esac eval exec exit export fc fg fi for
	function getopts hash help history if in jobs kill let local logout mapfile newgrp popd printf pushd
	pwd read readarray readonly return select set shift shopt source suspend test then time times trap
	type typeset ulimit umask unalias unset until wait while`)

// Direct gives the words of a command line that a shell would only pass on: one
// program of the disk with arguments that stand there as they are. argv is
// bash's with -c and the line, env its environment, cwd its folder. ok is false
// where bash might have more to do than to become that program. What it would
// have to say about a locale that is not there is not said.
//
// Make does the same. It saves the start of the shell, which is longer than
// that of most programs.
func Direct(argv, env []string, cwd string) (words []string, ok bool) {
	if len(argv) != 3 || argv[1] != "-c" || !passes(env, cwd) {
		return nil, false
	}
	if filepath.Base(argv[0]) != "bash" { // sh can be anything
		return nil, false
	}
	words, ok = split(argv[2])
	return words, ok && len(words) > 0 && isProgram(words)
}

// isProgram reports whether a command of these words is one of a program.
func isProgram(words []string) bool {
	name := words[0]
	if name == "true" || name == "false" {
		return len(words) == 1
	}
	if strings.Contains(name, "/") && !isAsItStands(name) {
		return false
	}
	return beginsProgram(name) && !strings.Contains(name, "=") && !slices.Contains(own, name)
}

// isAsItStands reports whether a path means the same, and is told to a program
// as its own name in the same way, wherever it is looked up.
func isAsItStands(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// passes reports whether a shell with this environment would do nothing by
// itself, and would pass it on as it is but for what Environ changes.
func passes(env []string, cwd string) bool {
	path := false
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "BASH_ENV", "BASH_XTRACEFD", "BASH_COMPAT", "EXECIGNORE",
			"SSH_CLIENT", "SSH2_CLIENT": // it may read the person's files then
			return false
		case "BASH", "BASHOPTS", "BASHPID", "BASH_ARGV0", "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_SUBSHELL",
			"BASH_VERSINFO", "BASH_VERSION", "COMP_WORDBREAKS", "EPOCHREALTIME", "EPOCHSECONDS", "HISTCMD", "IFS",
			"LINENO", "OPTERR", "OPTIND", "PPID", "PS4", "RANDOM", "SECONDS", "SHELLOPTS", "SRANDOM":
			return false // it makes its own, and passes that on
		case "PATH":
			if path = isSearchable(value); !path {
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

// isSearchable reports whether each folder of a PATH stands there as it is.
func isSearchable(path string) bool {
	for dir := range strings.SplitSeq(path, ":") {
		if !isAsItStands(dir) {
			return false
		}
	}
	return true
}

// Environ is the environment of a program at path that bash would have become,
// given bash's own.
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

// split gives the words of a line in which a shell has nothing to do but to
// take quotes away.
func split(line string) (words []string, ok bool) {
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

// splitWord gives the word that line begins with and how long it is there; 0 if
// a shell would make something else of it.
func splitWord(line string) (word string, n int) {
	var b strings.Builder
	for n < len(line) && line[n] != ' ' && line[n] != '\t' {
		c := line[n]
		switch {
		case c == '\'' || c == '"':
			text, _, closed := strings.Cut(line[n+1:], string(c))
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

// isPlain reports whether c means itself outside quotes, wherever it stands.
func isPlain(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("_-+=.,:/@%", c) >= 0
}

// beginsProgram reports whether a word that stands first may name a program.
func beginsProgram(word string) bool {
	if word == "" {
		return false
	}
	c := word[0]
	return c == '/' || c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
