package files

import (
	"os"
	"path/filepath"
	"strings"
)

// settings are what counts of git's configuration (git-config(1)): what changes
// the marks, and nothing that git could run or read something else for.
type settings struct {
	values   map[string]string
	safe     []string // folders of other users that the person trusts
	worktree string   // where a repository says that its files are
	bare     bool
	sha256   bool
	foreign  bool // references are not kept in files
	partial  bool // not all files of a commit were fetched
}

// take reads the answer of git config -z --list. What is the person's own may
// name files too.
func (s *settings) take(out []byte, persons bool) {
	if s.values == nil {
		s.values = defaultPaths()
	}
	for field := range strings.SplitSeq(string(out), "\x00") {
		name, value, valued := strings.Cut(field, "\n")
		if !valued {
			value = "true"
		}
		switch {
		case harmless(name) && isWord(value):
			s.values[name] = value
		case persons:
			s.takePersons(name, value)
		default:
			s.takeRepository(name, value)
		}
	}
}

// harmless reports whether a setting can only change how files are compared.
func harmless(name string) bool {
	switch name {
	case "core.filemode", "core.ignorecase", "core.symlinks", "core.precomposeunicode", "core.trustctime", "core.checkstat",
		"core.autocrlf", "core.eol", "status.showuntrackedfiles", "status.renames", "diff.renames":
		return true
	}
	return false
}

// isWord reports whether a value is a word or a number.
func isWord(value string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return len(value) <= 16 && strings.Trim(strings.ToLower(value), letters+"0123456789") == ""
}

func (s *settings) takePersons(name, value string) {
	if value == "~" || strings.HasPrefix(value, "~/") {
		value = os.Getenv("HOME") + value[1:]
	}
	switch {
	case name == "safe.directory" && value == "":
		s.safe = nil
	case name == "safe.directory":
		s.safe = append(s.safe, value)
	case (name == "core.excludesfile" || name == "core.attributesfile") && filepath.IsAbs(value):
		s.values[name] = value
	}
}

func (s *settings) takeRepository(name, value string) {
	switch {
	case name == "core.worktree":
		s.worktree = value
	case name == "core.bare":
		s.bare = value == "true" || value == "yes" || value == "on" || value == "1"
	case name == "extensions.objectformat":
		s.sha256 = value == "sha256"
	case name == "extensions.refstorage":
		s.foreign = value != "files"
	case name == "extensions.partialclone", strings.HasPrefix(name, "remote.") && strings.HasSuffix(name, ".promisor"):
		s.partial = true
	}
}

// defaultPaths are the person's files that git reads where nothing is
// configured.
func defaultPaths() map[string]string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".config")
	}
	if !filepath.IsAbs(dir) {
		return map[string]string{}
	}
	return map[string]string{
		"core.excludesfile":   filepath.Join(dir, "git", "ignore"),
		"core.attributesfile": filepath.Join(dir, "git", "attributes"),
	}
}

// trusts reports whether the person named a folder of another user as safe.
func (s *settings) trusts(dir string) bool {
	for _, safe := range s.safe {
		above, all := strings.CutSuffix(safe, "/*")
		if _, in := below(above, dir); safe == "*" || safe == dir || all && in {
			return true
		}
	}
	return false
}
