// Package secrets replaces passwords, tokens and keys in command lines, arguments and log
// attributes by *** before they are stored or shown. It recognises them by names, flags and
// well-known forms.
package secrets

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask replaces a secret.
const Mask = "***"

// IsSecretName reports whether a variable's name suggests a secret.
func IsSecretName(name string) bool {
	name = strings.ToUpper(name)
	if slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	if name == "PWD" || name == "OLDPWD" {
		return false // a shell's current and previous directory
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, isWordGap), func(word string) bool {
		return slices.Contains(secretWords, word)
	})
}

func isWordGap(r rune) bool { return r == '_' || r == '-' || r == '.' }

// Patterns for the value of an assignment, a flag or a header, as a shell word: quoted, or up to
// the end of the word.
const (
	quotedValue  = `"(?:[^"\\]|\\.)*"?|\$?'(?:[^'])*'?`
	wordValue    = `(?:` + quotedValue + `|\\.|[^\s"'\\;&|()<>])+`
	nonFlagValue = `(?:` + quotedValue + `|\\.|[^\s"'\\;&|()<>-])(?:` + quotedValue + `|\\.|[^\s"'\\;&|()<>])*`
)

// secretFlag matches a flag with a secret as its value.
const secretFlag = `(?i)(?:^|\s)--?(?:[0-9a-z]+[-_])*(?:` + secretFlags + `)`

// Patterns for the start of a program's name, and for its arguments in the same command.
const (
	program = `(?:^|[\s;&|()\x60"'/])`
	options = `\s(?:(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^|;&\n"'])*\s)?`
)

// A secretPattern matches a secret in a line. The secret is its last group. If named is true, the
// group before it is a name, and the match counts only if the name suggests a secret.
type secretPattern struct {
	hints     []string // in lower case; only lines containing one are matched
	re        *regexp.Regexp
	named     bool
	ofProgram bool           // matches arguments of a certain program
	within    *regexp.Regexp // matches the command to search; nil: the line
}

// secretPatterns are applied in this order. They are compiled on first use, because most commands
// of this executable need none.
var secretPatterns = sync.OnceValue(func() []secretPattern {
	shape := func(hints []string, re string) secretPattern {
		return secretPattern{hints, regexp.MustCompile(re), false, false, nil}
	}
	byName := func(re string) secretPattern {
		return secretPattern{nameHints, regexp.MustCompile(re), true, false, nil}
	}
	var all []secretPattern
	for _, f := range keyForms {
		all = append(all, shape([]string{f.hint}, `\b(`+f.re+`)`))
	}
	all = append(all,
		shape([]string{"private key"}, `(?s)-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(.+?)(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`),
		// scheme://user:password@host, and a token instead of a user
		shape([]string{"://"}, `[A-Za-z][0-9A-Za-z+.-]*://[^\s/?#:@"']*:([^\s/?#@"']+)@`),
		shape([]string{"http"}, `https?://([^\s/?#:@"'*]{20,})(?::[^\s/?#@"']*)?@`),
		// Authorization: Bearer …, in a header or as a word of its own
		shape([]string{"authorization"}, `(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|apikey|digest|negotiate)\s+)?([^\s"',]+)`),
		shape([]string{"bearer"}, `(?i)\bbearer\s+([0-9A-Za-z._~+/=-]{8,})`),
		shape([]string{"cookie"}, `(?i)\b(?:set-)?cookie:\s*([^\s"'][^"'\n]*)`),
		// X-Api-Key: …, "password": "…"
		byName(`([A-Za-z][0-9A-Za-z_.-]*)["']?\s*:\s*"((?:[^"\\]|\\.)+)"`),
		byName(`(?i)([a-z][0-9a-z_.-]*)["']?\s*:\s+(?:(?:bearer|basic|token|apikey|digest|negotiate)\s+)?([^\s"',;}]+)`),
		// NAME=value, also in a query string, a form or a connection string
		byName(`(?:^|[\s;&|("'?,{\x60])([A-Za-z_][0-9A-Za-z_.-]*)=(`+wordValue+`)`),
		shape([]string{"--from-literal"}, `--from-literal[\s=]+["']?[^\s"'=]+=(`+wordValue+`)`),
		// --password value, -token=value
		shape(nameHints, secretFlag+`=(`+wordValue+`)`),
		shape(nameHints, secretFlag+`\s+(`+nonFlagValue+`)`),
		shape([]string{"-pass"}, `(?:^|\s)-pass(?:in|out)?\s+["']?pass:([^\s"']+)`),
		// SQL: ALTER USER u PASSWORD '…', CREATE USER u IDENTIFIED BY '…', SET PASSWORD = '…'
		shape([]string{"password", "identified"}, `(?i)\b(?:alter|create|set|grant)\b[^;\n]*?\b(?:password|identified\s+(?:with\s+\S+\s+)?by)(?:\s+for\s+[^\s=]+)?`+
			`(?:\s*[=(]\s*|\s+)(?:password\s*\(\s*)?('[^']+'|"[^"]+")`))
	for _, r := range programRules {
		p := secretPattern{hints: []string{r.hint}, named: r.kind == named, ofProgram: true}
		start := program
		if r.name != "" {
			start += `(?:` + r.name + `)`
		}
		if r.kind == several {
			p.re, p.within = regexp.MustCompile(r.args), regexp.MustCompile(start+`\s(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^|;&\n"'])*`)
		} else {
			p.re = regexp.MustCompile(start + r.args)
		}
		all = append(all, p)
	}
	return all
})

// RedactLine replaces secrets in a command line or similar text by ***: values of names suggesting
// a secret, passwords in URLs and in well-known flags and headers, and keys of well-known forms.
// Values filled in by a shell ($TOKEN, "$(pass show x)") stay. RedactLine is idempotent.
func RedactLine(line string) string {
	lower := strings.ToLower(line)
	for _, shape := range secretPatterns() {
		if shape.isHinted(lower) {
			line = shape.redactLine(line)
		}
	}
	return line
}

func (s secretPattern) isHinted(lower string) bool {
	return slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(lower, hint) })
}

func (s secretPattern) redactLine(line string) string {
	var b strings.Builder
	from := 0 // what is copied so far
	s.eachSecret(line, func(begin, end int) {
		open, closed := surroundingQuotes(line[begin:end])
		b.WriteString(line[from:begin] + open + Mask + closed)
		from = end
	})
	if from == 0 {
		return line
	}
	b.WriteString(line[from:])
	return b.String()
}

// eachSecret passes the position of each secret to found, in order.
func (s secretPattern) eachSecret(line string, found func(begin, end int)) {
	if s.within == nil {
		s.eachIn(line, found)
		return
	}
	for _, command := range s.within.FindAllStringIndex(line, -1) {
		s.eachIn(line[command[0]:command[1]], func(begin, end int) { found(command[0]+begin, command[0]+end) })
	}
}

func (s secretPattern) eachIn(line string, found func(begin, end int)) {
	for at := 0; at < len(line); {
		m := s.re.FindStringSubmatchIndex(line[at:])
		if m == nil {
			return
		}
		n := len(m)
		begin, end := at+m[n-2], at+m[n-1]
		next := at + m[1]
		if s.named {
			next = begin // the value may hold another name and value
		}
		if begin < end && (!s.named || IsSecretName(line[at+m[n-4]:at+m[n-3]])) && !isReference(line[begin:end]) {
			found(begin, end)
			next = end
		}
		at = max(next, at+1)
	}
}

var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^"?(?:\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|\$[0-9@*#?])"?$`)
})

// isReference reports whether a value only refers to a secret: a variable, the output of a command,
// or an earlier redaction.
func isReference(value string) bool {
	switch inner := strings.Trim(value, `"'`); {
	case inner == Mask, inner == "":
		return true
	case strings.HasPrefix(value, "$("), strings.HasPrefix(value, `"$(`), strings.HasPrefix(value, "`"), strings.HasPrefix(value, "\"`"):
		return true
	}
	return reference().MatchString(value)
}

// surroundingQuotes returns the quotes around a value, which stay when the value is replaced.
func surroundingQuotes(value string) (open, closed string) {
	for _, q := range []string{`"`, `'`} {
		if len(value) >= 2 && strings.HasPrefix(value, q) && strings.HasSuffix(value, q) {
			return q, q
		}
	}
	return "", ""
}

// RedactArgv is RedactLine for arguments: a flag's value may be the next argument, and a value may
// contain blanks. It returns argv itself if there is nothing to redact.
func RedactArgv(argv []string) []string {
	changed := argv
	change := func(i int, shown string) {
		// The caller's slice must not change.
		if &changed[0] == &argv[0] {
			changed = slices.Clone(argv)
		}
		changed[i] = shown
	}
	for i, arg := range argv {
		shown := RedactLine(arg)
		name, value, set := strings.Cut(arg, "=")
		before := ""
		if i > 0 {
			before = argv[i-1]
		}
		switch {
		case set && value != "" && !IsScriptFlag(before) && takesSecret(name+"="):
			shown = name + "=" + Mask
		case strings.HasPrefix(before, "-") && !strings.HasPrefix(arg, "-") && takesSecret(before+" "):
			shown = Mask
		}
		if shown != arg {
			change(i, shown)
		}
	}
	redactOptions(argv, change)
	return changed
}

// redactOptions redacts arguments that are secret only for certain programs.
func redactOptions(argv []string, change func(i int, shown string)) {
	// The patterns match one line, so join the arguments. ends maps a match back to its argument.
	var line []byte
	var ends []int // of the arguments in it
	for _, arg := range argv {
		for _, c := range []byte(arg) {
			if c <= ' ' || c >= 0x7f || strings.IndexByte("\"'\\`$;&|()<>", c) >= 0 {
				c = 'x' // has no meaning inside an argument
			}
			line = append(line, c)
		}
		ends = append(ends, len(line))
		line = append(line, ' ')
	}
	text := string(line)
	lower := strings.ToLower(text)
	for _, shape := range secretPatterns() {
		if !shape.ofProgram || !shape.isHinted(lower) {
			continue
		}
		shape.eachSecret(text, func(begin, end int) {
			i, _ := slices.BinarySearch(ends, end)
			from := ends[i] - len(argv[i])
			change(i, argv[i][:begin-from]+Mask+argv[i][end-from:])
		})
	}
}

// IsScriptFlag reports whether the argument after flag is a command line for a shell.
func IsScriptFlag(flag string) bool {
	return strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.HasSuffix(flag, "c")
}

// takesSecret reports whether the text after begin would be redacted.
func takesSecret(begin string) bool {
	return !strings.ContainsAny(strings.TrimSpace(begin), " \t\n") && RedactLine(begin+"x") == begin+Mask
}

// RedactAttr redacts an attribute of the engine's own log.
func RedactAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(RedactLine(v))
	case error:
		a.Value = slog.StringValue(RedactLine(v.Error()))
	}
	return a
}
