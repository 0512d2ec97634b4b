package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
	"tandem/persist/datadir"
	"tandem/tests/needs"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// hostileNames returns names that, in a shell that takes them without quotes, run touch or mean
// several words, a flag or nothing visible.
func hostileNames() []string {
	return []string{"-rf", "--all", " ends ", "two words", "new\nline", "!!", "~root", "*", "it's", `a"b\c`, "{a,b}", "a\u3164", ">PWNED", "#", ":4x", "",
		"`touch${IFS}PWNED`", "$(touch PWNED)", "(touch PWNED)", ";touch PWNED;", "&touch${IFS}PWNED&"}
}

// safeNames returns harmless names, one for each kind of thing.
func safeNames() []string {
	return []string{"safe-session", "safe-process", "SAFE_VARIABLE", "safe.request", "safe/branch", "safe-member", "safe-machine", "safe-device", "safe-entry"}
}

// A namedRig is a rig in which a test chooses the names of everything.
type namedRig struct {
	*rig
	dir                                   string // data folder
	requests, branches, members, machines []string
}

func newNamedRig(t *testing.T) *namedRig {
	r := &namedRig{rig: newRig(t), dir: shortDir(t)}
	mux := r.mux()
	server.Handle(mux, api.RequestList, func(context.Context, api.Empty) (out api.RequestListOutput, _ error) {
		for _, name := range r.requests {
			out.Requests = append(out.Requests, api.Request{ID: name, Actor: name, Tool: "exec", Command: name})
		}
		return out, nil
	})
	server.Handle(mux, api.WorktreeList, func(context.Context, api.WorktreeListInput) (out api.WorktreeListOutput, _ error) {
		for _, name := range r.branches {
			out.Worktrees = append(out.Worktrees, api.Worktree{Branch: name, Path: "/" + name})
		}
		return out, nil
	})
	server.Handle(mux, api.FleetList, func(context.Context, api.FleetListInput) (out api.FleetListOutput, _ error) {
		for _, name := range r.members {
			out.Machines = append(out.Machines, api.FleetMachine{Name: name, State: api.FleetState(name)})
		}
		return out, nil
	})
	r.serveMux(mux, r.dir)
	connect := func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: r.dir, Version: "1.2.3", Name: "cli"})
	}
	r.options.Connect, r.options.Reach = connect, connect
	r.options.Machines.Load = func() (all []transport.Machine, err error) {
		for _, name := range r.machines {
			all = append(all, transport.Machine{Name: name, SSH: name})
		}
		return all, nil
	}
	r.options.Fleet.Load = func() (fleet.Config, error) { return fleet.Config{Hub: "tls://hub", Person: "p"}, nil }
	t.Setenv("TANDEM_DATA_DIR", r.dir)
	t.Chdir(t.TempDir())
	return r
}

// setNames renames everything: the thing with a safe name gets the names that choose returns for
// it.
func (r *namedRig) setNames(choose func(safe string) []string) {
	processes := func(id string, p api.Process, names []string) (all []api.Process) {
		for i, name := range names {
			p.ID, p.Name, p.Command = fmt.Sprintf("%s%04x", id, i), name, name
			all = append(all, p)
		}
		return all
	}
	r.sessions = processes("aaaaaaaa", api.Process{State: api.StateRunning, Interrupted: &api.Interruption{}}, choose("safe-session"))
	r.processes = append(r.sessions, processes("bbbbbbbb", api.Process{State: api.StateExited}, choose("safe-process"))...)
	r.variables = nil
	for _, name := range choose("SAFE_VARIABLE") {
		r.variables = append(r.variables, api.EnvVar{Name: name})
	}
	r.requests, r.branches, r.machines = choose("safe.request"), choose("safe/branch"), choose("safe-machine")
	r.members = slices.Concat(choose("safe-member"), r.machines)
	type device struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	book := map[string][]device{}
	for _, name := range choose("safe-device") {
		book["devices"] = append(book["devices"], device{name, name})
	}
	text, err := json.Marshal(book)
	entries := "processes:\n  valid: x\n"
	for _, name := range choose("safe-entry") {
		if name != "" {
			entries += "  " + strconv.Quote(name) + ": {command: " + strconv.Quote(name) + "}\n"
		}
	}
	page := filepath.Join(r.dir, datadir.Page)
	err = errors.Join(err, os.MkdirAll(page, 0o700), os.WriteFile(filepath.Join(page, "devices.json"), text, 0o600), os.WriteFile("tandem.yaml", []byte(entries), 0o600))
	if err != nil {
		r.t.Fatal(err)
	}
}

// completionLines returns the words to complete for every command and every flag with a value.
func completionLines(cmd *cobra.Command, path ...string) (lines [][]string) {
	lines = append(lines, append(slices.Clone(path), ""), append(slices.Clone(path), "--", ""))
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal == "" {
			lines = append(lines, append(slices.Clone(path), "--"+f.Name, ""), append(slices.Clone(path), "--"+f.Name+"="))
		}
	})
	for _, c := range cmd.Commands() {
		lines = append(lines, completionLines(c, append(slices.Clone(path), c.Name())...)...)
	}
	return lines
}

// TestCompletionRunsNothing completes every command and flag among hostile names. All answers are
// checked. Each different one with names or files is completed in the shells too.
func TestCompletionRunsNothing(t *testing.T) {
	r := newNamedRig(t)
	r.setNames(func(safe string) []string { return append(hostileNames(), safe) })
	plain := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.,:/@%+=-]*$`)
	lines, offered := map[string]string{}, map[string]bool{} // lines by their answer
	for _, words := range completionLines(newRoot(factory.New(r.options))) {
		answer, _, _ := r.run(append([]string{cobra.ShellCompRequestCmd}, words...)...)
		line := strings.Join(words, " ")
		// Only names and files are of interest to the shells.
		if strings.Contains(answer, "PWNED") || strings.Contains(strings.ToLower(answer), "safe") || answer == ":0\n" {
			lines[answer] = cmp.Or(lines[answer], "tandem "+line)
		}
		candidates, here := strings.Split(answer, "\n"), map[string]bool{}
		for _, text := range candidates[:len(candidates)-2] { // without the directive
			candidate, _, _ := strings.Cut(text, "\t")
			if !plain.MatchString(candidate) || here[candidate] {
				t.Errorf("%q offers %q", line, text)
			}
			offered[candidate], here[candidate] = true, true
			if about := strings.ReplaceAll(text, "\t", ""); output.Visible(about) != about {
				t.Errorf("%q describes %q", line, text)
			}
		}
	}
	for _, name := range safeNames() {
		if !offered[name] {
			t.Errorf("no command offers %s", name)
		}
	}
	// Words that need quotes may also be typed, or come from the shell's own completion of files.
	quotable := slices.DeleteFunc(hostileNames(), func(name string) bool { return strings.ContainsAny(name, "'\n\\!") })
	quoted := "tandem start 'x" + strings.Join(quotable, "' 'x") + "' "
	// Bash inserts what several names have in common, without quotes.
	for shell, prefixes := range map[string][]string{"bash": {"`touch${IFS}PWNED`", ";touch PWNED;"}, "zsh": {"$(touch PWNED)"}, "fish": {"(touch PWNED)"}} {
		t.Run(shell, func(t *testing.T) {
			s := r.startShell(t, needs.Program(t, shell, shell), shell)
			for _, prefix := range prefixes {
				r.setNames(func(string) []string { return []string{prefix + "a", prefix + "b"} })
				s.complete(t, quoted)
				// What a shell does depends on the answer, not on the command.
				answered := map[string]bool{}
				for _, line := range slices.Sorted(maps.Values(lines)) {
					words := strings.Split(line, " ")
					words[0] = cobra.ShellCompRequestCmd
					answer, _, _ := r.run(words...)
					if !answered[answer] {
						answered[answer] = true
						s.complete(t, line)
					}
				}
			}
		})
	}
}

// completingShells maps shells to their start-up files. These define tandem as a function that asks
// the test, and make ctrl+g send the line to the test and clear it.
var completingShells = map[string]string{
	"bash": `
tandem() { printf '%s\0' "$@" end >"$TEST/asked"; read -r <"$TEST/answered"; mapfile <"$TEST/answer"; printf %s "${MAPFILE[@]}"; }
send_line() { printf '%s\0' line "$READLINE_LINE" end >"$TEST/asked"; READLINE_LINE= READLINE_POINT=0; }
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind -x '"\C-g": send_line'
source "$TEST/script"
`,
	"zsh": `
zmodload zsh/mapfile
tandem() { printf '%s\0' "$@" end >"$TEST/asked"; read -r <"$TEST/answered"; print -rn -- "$mapfile[$TEST/answer]"; }
send_line() { printf '%s\0' line "$BUFFER" end >"$TEST/asked"; BUFFER= }
zle -N send_line
bindkey '^G' send_line
LISTMAX=10000
# Only what the completion of tandem uses: registering that of every program takes seconds.
_compdir= all=($fpath) fpath=(${(M)fpath:#*/Completion(|/Base|/Zsh)})
autoload -U compinit && compinit -D -u
fpath=($all)
autoload -Uz _files _path_files _list_files
source "$TEST/script"
`,
	"fish": `
function tandem; printf '%s\0' $argv end >"$TEST/asked"; read -l <"$TEST/answered"; read -z answer <"$TEST/answer"; printf %s $answer; end
function send_line; printf '%s\0' line (commandline | string collect) end >"$TEST/asked"; commandline -r ''; end
set fish_autosuggestion_enabled 0
bind \cg send_line
source "$TEST/script"
`,
}

// A completingShell is a shell in a terminal, whose completion asks a rig.
type completingShell struct {
	r               *rig
	dir             string   // with its working folder
	terminal        *os.File // keys to the shell
	asked, answered *os.File // the words it asks for, and a line for each answer, which is in a file
	words           *bufio.Reader
}

func (r *rig) startShell(t *testing.T, program, shell string) *completingShell {
	s := &completingShell{r: r, dir: t.TempDir()}
	work := filepath.Join(s.dir, "work")
	err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(filepath.Join(s.dir, "script"), []byte(r.succeeds("completion", shell)), 0o600),
		os.WriteFile(filepath.Join(s.dir, ".zshrc"), []byte(completingShells[shell]), 0o600))
	for _, name := range hostileNames() {
		err = errors.Join(err, os.WriteFile(filepath.Join(work, "file"+name), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.asked, s.answered = openFIFO(t, filepath.Join(s.dir, "asked")), openFIFO(t, filepath.Join(s.dir, "answered"))
	s.words = bufio.NewReader(s.asked)
	cmd := exec.Command(program, map[string][]string{
		"bash": {"--noprofile", "--rcfile", "../.zshrc", "-i"}, "zsh": {"-d", "-i"}, "fish": {"--no-config", "--private", "-i", "-C", "source ../.zshrc"},
	}[shell]...)
	cmd.Dir, cmd.Env = work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "ZDOTDIR=" + s.dir, "TEST=" + s.dir, "TERM=xterm", "LANG=C.UTF-8"}
	s.terminal, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
	if err != nil {
		t.Fatal(err)
	}
	drained := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, s.terminal)
		drained <- err
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		<-drained
		s.terminal.Close()
	})
	return s
}

// complete completes a line, and fails if that runs a command contained in a name.
func (s *completingShell) complete(t *testing.T, line string) {
	// The first two tabs list and choose, the third one evaluates the line so far.
	if _, err := io.WriteString(s.terminal, line+"\t\t \t\x07"); err != nil {
		t.Fatal(err)
	}
	calls := 0
	words := s.readWords(t)
	for ; words[0] != "line"; words = s.readWords(t) {
		calls++
		answer, _, _ := s.r.run(words...)
		err := os.WriteFile(filepath.Join(s.dir, "answer"), []byte(answer), 0o600)
		if err == nil {
			_, err = io.WriteString(s.answered, "ready\n")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if calls == 0 || !strings.HasPrefix(words[1], "tandem") {
		t.Errorf("%q is not completed: %q after %d calls", line, words[1], calls)
	}
	if os.Remove(filepath.Join(s.dir, "work", "PWNED")) == nil {
		t.Errorf("%q ran a command; the line was %q", line, words[1])
	}
}

// readWords reads words that end with NUL, up to the word end.
func (s *completingShell) readWords(t *testing.T) (words []string) {
	if err := s.asked.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for {
		word, err := s.words.ReadString(0)
		if err != nil {
			t.Fatalf("wait for the shell: %v", err)
		}
		if word = strings.TrimSuffix(word, "\x00"); word == "end" {
			return words
		}
		words = append(words, word)
	}
}

// openFIFO makes and opens a FIFO.
func openFIFO(t *testing.T, path string) *os.File {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
