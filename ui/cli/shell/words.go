package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// splitWords splits a line like a shell and expands $NAME and ${NAME}. Globs, substitutions and
// operators are errors.
func splitWords(line string, env func(string) string) ([]string, error) {
	var list []string
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(line)) {
		if err != nil {
			return list, err
		}
		var b strings.Builder
		if err := writeParts(&b, w.Parts, env, false); err != nil {
			return list, err
		}
		list = append(list, b.String())
	}
	return list, nil
}

func writeParts(b *strings.Builder, parts []syntax.WordPart, env func(string) string, quoted bool) error {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			writeLiteral(b, p.Value, quoted)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if err := writeParts(b, p.Parts, env, true); err != nil {
				return err
			}
		case *syntax.ParamExp:
			if !isPlainName(p) {
				return errors.New("${…} must contain only the name of a variable")
			}
			b.WriteString(env(p.Param.Value))
		default:
			return errors.New("only variables are expanded")
		}
	}
	return nil
}

// isPlainName reports whether an expansion is $NAME or ${NAME}.
func isPlainName(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil &&
		p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// writeLiteral writes text without its backslashes; inside quotes, only those with a meaning there
// are removed.
func writeLiteral(b *strings.Builder, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}
