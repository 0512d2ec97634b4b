// Package secrets replaces passwords, tokens and keys in command lines, arguments and log attributes by ***,
// before anything is kept or shown. It tells them by names, flags and well-known forms, and keeps nothing itself.
package secrets

import (
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mask stands where a secret was.
const Mask = "***"

// secretParts mark names of secrets wherever they are in the name; secretWords
// only as a whole word, between underscores, hyphens or dots.
var (
	secretParts = [...]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}
	secretWords = [...]string{"PASS", "PWD", "AUTH", "AUTHORIZATION", "COOKIE", "BEARER", "JWT"}
)

// IsSecretName reports whether a variable's name is like that of a secret.
func IsSecretName(name string) bool {
	name = strings.ToUpper(name)
	if slices.ContainsFunc(secretParts[:], func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	if name == "PWD" || name == "OLDPWD" {
		return false // the folder a shell is in, and was
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, isWordGap), func(word string) bool {
		return slices.Contains(secretWords[:], word)
	})
}

func isWordGap(r rune) bool { return r == '_' || r == '-' || r == '.' }

// The value of an assignment, a flag or a header as a shell's word: quoted, or
// up to what ends a word.
const (
	quotedValue = `"(?:[^"\\]|\\.)*"?|\$?'(?:[^'])*'?`
	wordValue   = `(?:` + quotedValue + `|\\.|[^\s"'\\;&|()<>])+`
	noFlag      = `(?:` + quotedValue + `|\\.|[^\s"'\\;&|()<>-])(?:` + quotedValue + `|\\.|[^\s"'\\;&|()<>])*`
)

// secretFlag is a flag whose value is a secret.
const secretFlag = `(?i)(?:^|\s)--?(?:[0-9a-z]+[-_])*(?:password|passwd|passphrase|pass|token|secret|api-?key|access-?key|` +
	`secret-?key|private-?key|auth-?key|credentials?|bearer)`

// What stands before a program, and arguments of it in the same command.
const (
	program = `(?:^|[\s;&|()\x60"'/])`
	options = `\s(?:(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^|;&\n"'])*\s)?`
)

// A secretShape is where in a line a secret may be. Its last group is the
// secret; if it is named, the group before is a name that must look secret.
type secretShape struct {
	hints []string // in lower case; a line without any of them has none
	re    *regexp.Regexp
	named bool
	of    bool // it is about arguments of a program
}

// nameHints are in every name that looks secret.
var nameHints = []string{"key", "token", "secret", "pass", "credential", "pwd", "auth", "cookie", "bearer", "jwt"}

// secretShapes are tried one after the other. They are compiled on first use:
// most programs of this executable need none.
var secretShapes = sync.OnceValue(func() []secretShape {
	shape := func(hints []string, re string) secretShape {
		return secretShape{hints, regexp.MustCompile(re), false, false}
	}
	named := func(re string) secretShape { return secretShape{nameHints, regexp.MustCompile(re), true, false} }
	of := func(hint, re string) secretShape {
		return secretShape{[]string{hint}, regexp.MustCompile(program + re), false, true}
	}
	aws := of("aws", `aws`+options+`configure\s+set\s+([0-9A-Za-z_.-]+)\s+(`+wordValue+`)`)
	aws.named = true
	return []secretShape{
		// Keys that tell by their form what they are.
		shape([]string{"gh", "glpat-", "akia", "asia", "abia", "acca", "aiza", "ya29.", "sk-", "k_live_", "k_test_", "whsec_", "xox", "xapp-",
			"npm_", "pypi-", "hf_", "dop_v1_", "sg.", "age-secret-", "eyj"}, `\b(gh[pousr]_[0-9A-Za-z]{16,}|github_pat_[0-9A-Za-z_]{16,}|glpat-[0-9A-Za-z_-]{16,}|`+
			`(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{16,}|`+
			`sk-[0-9A-Za-z_-]{16,}|[sr]k_(?:live|test)_[0-9A-Za-z]{10,}|whsec_[0-9A-Za-z]{16,}|`+
			`xox[abeoprs]-[0-9A-Za-z-]{10,}|xapp-[0-9A-Za-z-]{10,}|npm_[0-9A-Za-z]{30,}|pypi-[0-9A-Za-z_-]{30,}|hf_[0-9A-Za-z]{20,}|`+
			`dop_v1_[0-9a-f]{32,}|SG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}|AGE-SECRET-KEY-1[0-9A-Z]{20,}|`+
			`eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*)?)`),
		shape([]string{"private key"}, `(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(.+?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
		// scheme://user:password@host
		shape([]string{"://"}, `[A-Za-z][0-9A-Za-z+.-]*://[^\s/?#:@"']*:([^\s/?#@"']+)@`),
		// Authorization: Bearer …, in a header or as a word of its own
		shape([]string{"authorization"}, `(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|apikey|digest|negotiate)\s+)?([^\s"',]+)`),
		shape([]string{"bearer"}, `(?i)\bbearer\s+([0-9A-Za-z._~+/=-]{8,})`),
		// X-Api-Key: …, "password": "…"
		named(`([A-Za-z][0-9A-Za-z_.-]*)["']?\s*:\s*"((?:[^"\\]|\\.)+)"`),
		named(`(?i)([a-z][0-9a-z_.-]*)["']?\s*:\s+(?:(?:bearer|basic|token|apikey|digest|negotiate)\s+)?([^\s"',;}]+)`),
		// NAME=value, also in a query, a form or a connection string
		named(`(?:^|[\s;&|("'?,{\x60])([A-Za-z_][0-9A-Za-z_.-]*)=(` + wordValue + `)`),
		// --password value, -token=value
		shape(nameHints, secretFlag+`=(`+wordValue+`)`),
		shape(nameHints, secretFlag+`\s+(`+noFlag+`)`),
		shape([]string{"-pass"}, `(?:^|\s)-pass(?:in|out)?\s+["']?pass:([^\s"']+)`),
		of("openssl", `openssl`+options+`-[kK]\s+(`+wordValue+`)`),
		of("mc", `mc(?:li)?`+options+`(?:alias\s+(?:set|s)|config\s+host\s+(?:add|a))`+options+`\S*://\S*\s+`+wordValue+`\s+(`+wordValue+`)`),
		of("curl", `curl`+options+`(?:-[A-Za-z]*u\s*|--(?:proxy-)?user[\s=]+)["']?[^\s"':]+:([^\s"']+)`),
		of("sshpass", `sshpass\s+(?:-v\s+)?-p\s*(`+wordValue+`)`),
		of("mysql", `mysql[a-z_-]*`+options+`-p(`+wordValue+`)`),
		of("mariadb", `mariadb[a-z_-]*`+options+`-p(`+wordValue+`)`),
		of("redis-cli", `redis-cli`+options+`-a\s+(`+noFlag+`)`),
		of("login", `(?:docker|podman|nerdctl|buildah|skopeo|helm)`+options+`login`+options+`-p[\s=]*(`+noFlag+`)`),
		of("htpasswd", `htpasswd`+options+`-[A-Za-z]*b[A-Za-z]*`+options+`(`+wordValue+`)(?:\s+\d?[<>|;&)]|\s*$|[;&|)\n])`),
		of("sudo", `sudo`+options+`(?:-[A-Za-z]*S[A-Za-z]*|--stdin)\s[^|;&\n]*<<<\s*(`+wordValue+`)`),
		of("sudo", `(?:echo|printf)\s+(?:-[neE]+\s+|['"]?%s(?:\\n)?['"]?\s+)?(`+wordValue+`(?:[ \t]+`+wordValue+`)*)\s*\|\s*(?:\S*/)?sudo`+
			options+`(?:-[A-Za-z]*S|--stdin)`),
		aws,
	}
})

// RedactLine replaces the secrets that it can tell in a command line, or in
// another text of that kind, by ***: values of names that look secret, passwords
// in URLs and in well-known flags and headers, and keys of well-known forms. A
// value that a shell is to fill in ($TOKEN, "$(pass show x)") stays. It changes
// nothing in a line that it has made.
func RedactLine(line string) string {
	lower := strings.ToLower(line)
	for _, shape := range secretShapes() {
		if shape.isHinted(lower) {
			line = shape.redact(line)
		}
	}
	return line
}

func (s secretShape) isHinted(lower string) bool {
	return slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(lower, hint) })
}

func (s secretShape) redact(line string) string {
	var b strings.Builder
	from := 0 // what is copied so far
	s.each(line, func(begin, end int) {
		open, closed := quotes(line[begin:end])
		b.WriteString(line[from:begin] + open + Mask + closed)
		from = end
	})
	if from == 0 {
		return line
	}
	b.WriteString(line[from:])
	return b.String()
}

// each tells where the secrets are.
func (s secretShape) each(line string, found func(begin, end int)) {
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

// isReference reports whether a value is not a secret itself but says where one
// is: a variable, the output of a command, or what was redacted already.
func isReference(value string) bool {
	switch inner := strings.Trim(value, `"'`); {
	case inner == Mask, inner == "":
		return true
	case strings.HasPrefix(value, "$("), strings.HasPrefix(value, `"$(`), strings.HasPrefix(value, "`"), strings.HasPrefix(value, "\"`"):
		return true
	}
	return reference().MatchString(value)
}

// quotes are the quotes around a value, which stay.
func quotes(value string) (open, closed string) {
	for _, q := range []string{`"`, `'`} {
		if len(value) >= 2 && strings.HasPrefix(value, q) && strings.HasSuffix(value, q) {
			return q, q
		}
	}
	return "", ""
}

// RedactArgv is RedactLine for arguments: the value of a flag may be the argument
// behind it, and a value may hold blanks. It gives argv itself if there is nothing
// to redact.
func RedactArgv(argv []string) []string {
	changed := argv
	change := func(i int, shown string) {
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
		case set && value != "" && !IsScriptFlag(before) && redactsAfter(name+"="):
			shown = name + "=" + Mask
		case strings.HasPrefix(before, "-") && !strings.HasPrefix(arg, "-") && redactsAfter(before+" "):
			shown = Mask
		}
		if shown != arg {
			change(i, shown)
		}
	}
	redactOptions(argv, change)
	return changed
}

// redactOptions changes arguments that are secrets because of the program that
// they are for.
func redactOptions(argv []string, change func(i int, shown string)) {
	var line []byte
	var ends []int // of the arguments in it
	for _, arg := range argv {
		for _, c := range []byte(arg) {
			if c <= ' ' || c >= 0x7f || strings.IndexByte("\"'\\`$;&|()<>", c) >= 0 {
				c = 'x' // it means nothing here
			}
			line = append(line, c)
		}
		ends = append(ends, len(line))
		line = append(line, ' ')
	}
	text := string(line)
	lower := strings.ToLower(text)
	for _, shape := range secretShapes() {
		if !shape.of || !shape.isHinted(lower) {
			continue
		}
		shape.each(text, func(begin, end int) {
			i, _ := slices.BinarySearch(ends, end)
			from := ends[i] - len(argv[i])
			change(i, argv[i][:begin-from]+Mask+argv[i][end-from:])
		})
	}
}

// IsScriptFlag reports whether what follows a flag is a line for a shell.
func IsScriptFlag(flag string) bool {
	return strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.HasSuffix(flag, "c")
}

// redactsAfter reports whether what follows in a line is taken for a secret.
func redactsAfter(begin string) bool {
	return !strings.ContainsAny(strings.TrimSpace(begin), " \t\n") && RedactLine(begin+"x") == begin+Mask
}

// RedactAttr keeps secrets out of the engine's own log.
func RedactAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(RedactLine(v))
	case error:
		a.Value = slog.StringValue(RedactLine(v.Error()))
	}
	return a
}
