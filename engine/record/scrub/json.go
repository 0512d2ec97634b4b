package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"tandem/persist/datadir"
)

// textKeys are the keys whose values, and all values within them, are text of the user or of programs
// in a process's record, the facts of kept output and layouts. Other strings there decide how Tandem
// reads the file.
func textKeys() []string {
	return []string{
		"argv", "cwd", "env", "environ", "title", "error", "folder", "program", "typed", "command", "log", "http", "http_headers",
		"proxy_url", "text", "last_lines",
	}
}

// openKeys are the keys in other files whose values have keys of the user's or an agent's choice: every
// string in them is text.
func openKeys() []string { return []string{"variables", "clients", "environ", "set", "arguments"} }

// fixedKeys are the keys elsewhere in other files whose values are not text.
func fixedKeys() []string {
	return []string{
		"id", "ids", "kind", "state", "outcome", "operation", "tool", "process", "terminal", "born", "session", "schema", "time",
		"actor", "owner", "by", "policy", "created", "attached", "used", "started", "ended", "boot_id",
	}
}

// inJSON returns the spans to overwrite in JSON values: matches in their strings, but not in keys.
// encoded are those in base64.
func (p *pattern) inJSON(data []byte, path string) (found, encoded []span) {
	strict := path == factsColumn || slices.Contains([]string{"record.json", datadir.Layouts}, filepath.Base(path))
	inTmux := filepath.Base(filepath.Dir(path)) == datadir.Tmux
	scanJSON(data, func(keys []string, lo, hi int) {
		last := ""
		if len(keys) > 0 {
			last = keys[len(keys)-1]
		}
		within := func(all []string) bool {
			return slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(all, k) })
		}
		isText := within(openKeys()) || !slices.Contains(fixedKeys(), last) && !strings.HasSuffix(last, "_id") && !strings.HasSuffix(last, "_at")
		if strict {
			isText = within(textKeys()) || isName(keys)
		}
		switch text := data[lo:hi]; {
		case !isText:
		case inTmux && last == "data":
			encoded = append(encoded, shifted(p.inBase64(text), lo)...)
		default:
			found = append(found, shifted(p.inString(text), lo)...)
		}
	})
	return found, encoded
}

// isName reports whether keys lead to the name of a process in its record or in the facts of its kept
// output.
func isName(keys []string) bool {
	return slices.Equal(keys, []string{"name"}) || slices.Equal(keys, []string{"process", "name"})
}

// inString returns the spans to overwrite between the quotes of a JSON string.
func (p *pattern) inString(text []byte) []span {
	if bytes.IndexByte(text, '\\') < 0 {
		return p.inText(text)
	}
	return p.inUnits(len(text), func(at int) (decoded []byte, n int) {
		if text[at] != '\\' || at+1 == len(text) {
			return text[at : at+1], 1
		}
		n = 2
		if text[at+1] == 'u' {
			n = 6
			if pair := at + 6; pair+1 < len(text) && text[pair] == '\\' && text[pair+1] == 'u' && isSurrogate(text[at+2:]) {
				n = 12
			}
		}
		n = min(n, len(text)-at)
		var s string
		if json.Unmarshal(slices.Concat([]byte{'"'}, text[at:at+n], []byte{'"'}), &s) != nil {
			return text[at : at+1], 1
		}
		return []byte(s), n
	})
}

// isSurrogate reports whether four hexadecimal digits are the first half of a pair.
func isSurrogate(digits []byte) bool {
	return len(digits) > 1 && digits[0]|0x20 == 'd' && strings.IndexByte("89abAB", digits[1]) >= 0
}

// inBase64 returns the spans to overwrite in base64, in whole groups of four characters.
func (p *pattern) inBase64(text []byte) (found []span) {
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil
	}
	for _, m := range p.inText(data) {
		found = append(found, span{m[0] / 3 * 4, min((m[1]+2)/3*4, int64(len(text)))})
	}
	return merged(found)
}

// overwriteBase64 replaces groups of four characters by those for three x.
func overwriteBase64(data []byte, spans []span) {
	for _, s := range spans {
		for i := s[0]; i < s[1] && i < int64(len(data)); i++ {
			if data[i] != '=' {
				data[i] = "eHh4"[(i-s[0])%4]
			}
		}
	}
}

// scanJSON calls f for each string in JSON values except keys, with the keys leading to it and its
// bounds between the quotes. It skips syntax errors.
func scanJSON(data []byte, f func(keys []string, lo, hi int)) {
	type container struct {
		object bool
		key    string
	}
	var open []container
	var keys []string
	for at := 0; at < len(data); at++ {
		switch data[at] {
		case '{', '[':
			open = append(open, container{object: data[at] == '{'})
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case '"':
			lo := at + 1
			for at = lo; at < len(data) && data[at] != '"'; at++ {
				if data[at] == '\\' {
					at++
				}
			}
			hi := min(at, len(data))
			after := bytes.TrimLeft(data[min(at+1, len(data)):], " \t\r\n")
			if n := len(open); n > 0 && open[n-1].object && len(after) > 0 && after[0] == ':' {
				open[n-1].key = string(data[lo:hi])
				continue
			}
			keys = keys[:0]
			for _, c := range open {
				if c.object {
					keys = append(keys, c.key)
				}
			}
			f(keys, lo, hi)
		}
	}
}
