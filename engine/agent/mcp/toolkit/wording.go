package toolkit

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"tandem/engine/api"
)

const (
	// maxMessage is the maximum length of an error message, which may quote the agent's own text.
	maxMessage = 4 << 10
	// maxQuoted is the maximum length of client text quoted in an error.
	maxQuoted = 80
)

// AddAdvice adds a hint depending on the tool.
func AddAdvice(t Tool, err error) error {
	e := api.AsError(err)
	if e.Code == api.CodeEnded && e.Hint == "" && strings.HasPrefix(t.Name, "session_") {
		return e.WithHint("session_screen shows its last screen, session_start starts another")
	}
	return err
}

// Abbreviate returns client text in a length suitable for an error.
func Abbreviate(s string) string {
	if len(s) <= maxQuoted {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
}

// MakeLegible truncates a message and escapes invisible characters, because it may quote text from
// an agent or a program.
func MakeLegible(message string) string {
	if len(message) > maxMessage {
		head, tail := message[:maxMessage/2], message[len(message)-maxMessage/4:]
		message = strings.ToValidUTF8(head, "") + "…" + strings.ToValidUTF8(tail, "")
	}
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	}
	var b strings.Builder
	for _, r := range message {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// HintForAgents replaces commands and operations in an engine's hint by tools.
func HintForAgents(hint string) string {
	hint = processCommand().ReplaceAllString(hint, "process_$1")
	return strings.NewReplacer(
		"tandem ls shows all", "session_list and process_list show all",
		"tandem screen shows", "session_screen shows",
		"`tandem ps` shows", "process_list shows",
		"`tandem machine list` shows", "machine_list shows",
		"Its output is in its log. Start it with a terminal (--tty) to type into it.", "process_log has its output; session_start starts a program to type into",
		"session.", "session_", "process.", "process_",
	).Replace(hint)
}

// processCommand matches commands with equivalents in process_log and process_stop.
var processCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`tandem (log|stop)s? [^`]*`") })

// toolWord matches names of session, process and machine tools.
var toolWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:session|process|machine)_[a-z_]+\b`) })

// RewriteHint returns a hint with the tools' names on this server. It drops clauses about tools not
// offered.
func RewriteHint(hint string, lookup func(tool string) (name string, offered bool)) string {
	var kept []string
	for _, clause := range strings.Split(HintForAgents(hint), "; ") {
		if rest, ok := strings.CutSuffix(clause, "session_list and process_list show all"); ok {
			if _, sessions := lookup("session_list"); !sessions {
				clause = rest + "process_list shows all"
			}
		}
		all := !strings.HasPrefix(clause, "tandem env") // has no equivalent tool
		clause = toolWord().ReplaceAllStringFunc(clause, func(tool string) string {
			name, offered := lookup(tool)
			all = all && offered
			return name
		})
		if all {
			kept = append(kept, clause)
		}
	}
	return strings.Join(kept, "; ")
}
