package project

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// Each process of a Procfile gets its own port, as with foreman: the value of PORT, or 5000, plus
// 100 for each process before it.
const (
	firstPort = 5000
	portStep  = 100
)

// readProcfile reads lines of "name: command", and the .env file beside the Procfile.
func (r *reader) readProcfile(text []byte) {
	r.loadDotEnv()
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
		// An invalid name is reported later, and only its entry is left out.
		r.readEntryOf(name, func() {
			if !ok || (nameFault(name) == "" && !isProcName(name)) || command == "" || strings.ContainsRune(command, 0) {
				r.addError(at, "must be NAME: COMMAND").hint("a name has letters, digits, _ and -")
			}
		})
		e := Entry{Name: name, At: at, Start: api.ProcessStartInput{Name: name, Command: shellArgv(command), CWD: filepath.Dir(r.file.Path)}}
		e.Env = append(append(e.Env, r.env...), Variable{"PORT", strconv.Itoa(port + portStep*len(r.file.Entries))})
		r.file.Entries = append(r.file.Entries, e)
	}
}

func isProcName(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')
	}) < 0
}

// loadDotEnv reads the .env file beside the project file, if it exists.
func (r *reader) loadDotEnv() {
	vars, err := loadEnvFile(r.absPath(".env"))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	r.fail(err)
	r.env = append(r.env, vars...)
}
