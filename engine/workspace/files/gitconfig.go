package files

import (
	"os"
	"path/filepath"
	"strings"
)

// gitSettings is the part of git's configuration (git-config(1)) with an effect on the status. Nothing
// in it makes git run or read anything else.
type gitSettings struct {
	values       map[string]string
	safe         []string // folders of other users that the user trusts
	worktree     string   // the repository's files, if configured
	bare         bool
	sha256       bool
	foreignRefs  bool // references are not stored in files
	partialClone bool // some objects were not fetched
}

// parse adds the output of git config -z --list. persons is set for the user's own configuration:
// only that may name files.
func (s *gitSettings) parse(out []byte, persons bool) {
	if s.values == nil {
		s.values = defaultPaths()
	}
	for field := range strings.SplitSeq(string(out), "\x00") {
		name, value, valued := strings.Cut(field, "\n")
		// A name without a value means true (git-config(1)).
		if !valued {
			value = "true"
		}
		switch {
		case isHarmless(name) && isWord(value):
			s.values[name] = value
		case persons:
			s.setUserValue(name, value)
		default:
			s.setRepositoryValue(name, value)
		}
	}
}

// isHarmless reports whether a setting can only change how files are compared.
func isHarmless(name string) bool {
	switch name {
	case "core.filemode", "core.ignorecase", "core.symlinks", "core.precomposeunicode", "core.trustctime", "core.checkstat",
		"core.autocrlf", "core.eol", "status.showuntrackedfiles", "status.renames", "diff.renames":
		return true
	}
	return false
}

// isWord reports whether value is a short word or a number, so that it cannot name a file or a
// command.
func isWord(value string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return len(value) <= 16 && strings.Trim(strings.ToLower(value), letters+"0123456789") == ""
}

func (s *gitSettings) setUserValue(name, value string) {
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

func (s *gitSettings) setRepositoryValue(name, value string) {
	switch {
	case name == "core.worktree":
		s.worktree = value
	case name == "core.bare":
		s.bare = value == "true" || value == "yes" || value == "on" || value == "1"
	case name == "extensions.objectformat":
		s.sha256 = value == "sha256"
	case name == "extensions.refstorage":
		s.foreignRefs = value != "files"
	case name == "extensions.partialclone", strings.HasPrefix(name, "remote.") && strings.HasSuffix(name, ".promisor"):
		s.partialClone = true
	}
}

// defaultPaths returns the user's files that git reads without any configuration.
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

// trustsFolder reports whether the user lists the folder of another user as safe.
func (s *gitSettings) trustsFolder(dir string) bool {
	for _, safe := range s.safe {
		above, all := strings.CutSuffix(safe, "/*")
		if _, in := relBelow(above, dir); safe == "*" || safe == dir || all && in {
			return true
		}
	}
	return false
}
