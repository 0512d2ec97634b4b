package project

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// A Procfile's processes are given ports of their own, as its other readers do:
// the first PORT, or 5000, and 100 more for each that follows.
const (
	firstPort = 5000
	portStep  = 100
)

// procfile reads lines of "name: command". A .env file beside it is read too.
func (r *reader) procfile(text []byte) {
	r.besides()
	port, err := strconv.Atoi(r.lookup("PORT"))
	if err != nil || port < 1 || port > 60000 {
		port = firstPort
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		at := Position{number, 1}
		name, command, ok := strings.Cut(line, ":")
		command = strings.TrimSpace(command)
		if !ok || !procName(name) || command == "" || strings.ContainsRune(command, 0) {
			r.wrong(at, "must be NAME: COMMAND").hint("a name has letters, digits, _ and -")
		}
		e := Entry{Name: name, At: at, Start: api.ProcessStartInput{Name: name, Command: shell(command), CWD: filepath.Dir(r.file.Path)}}
		e.Env = append(append(e.Env, r.env...), Variable{"PORT", strconv.Itoa(port + portStep*len(r.file.Entries))})
		r.file.Entries = append(r.file.Entries, e)
	}
}

func procName(s string) bool {
	return goodName(s) && strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')
	}) < 0
}

// besides reads a .env file beside the project file, if there is one.
func (r *reader) besides() {
	vars, err := envFile(r.path(".env"))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	r.fail(err)
	r.env = append(r.env, vars...)
}
