package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/clipperhouse/displaywidth"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

type formatInput struct {
	Content      string     `json:"content"`
	FormatType   string     `json:"format_type,omitempty" enum:"success,error,warning,info,table,json"`
	TableHeaders []string   `json:"table_headers,omitempty"`
	TableRows    [][]string `json:"table_rows,omitempty"`
}

type formatted struct {
	FormattedContent string   `json:"formatted_content"`
	FormatType       string   `json:"format_type"`
	OriginalContent  string   `json:"original_content"`
	TerminalCodes    []string `json:"terminal_codes"`
}

// SGR codes (ECMA-48, 8.3.117), in the form reported to agents.
const (
	codeReset  = "0m"
	codeBold   = "1m"
	codeRed    = "31m"
	codeGreen  = "32m"
	codeYellow = "33m"
	codeBlue   = "34m"
	codePink   = "35m"
	codeCyan   = "36m"
)

// A painter writes coloured text and records the codes it used.
type painter struct {
	strings.Builder
	codes []string
}

// paint writes text in a colour. text must not have control characters.
func (p *painter) paint(code, text string) {
	for _, c := range []string{code, codeReset} {
		if !slices.Contains(p.codes, c) {
			p.codes = append(p.codes, c)
		}
	}
	p.WriteString("\x1b[" + code + text + "\x1b[" + codeReset)
}

func formatOutput(_ context.Context, _ *toolkit.Agent, in formatInput) (toolkit.Result, error) {
	if in.FormatType == "" {
		in.FormatType = "info"
	}
	p := &painter{codes: []string{}}
	switch in.FormatType {
	case "success":
		p.paint(codeGreen, "✅ "+escapeControls(in.Content))
	case "error":
		p.paint(codeRed, "❌ "+escapeControls(in.Content))
	case "warning":
		p.paint(codeYellow, "⚠️ "+escapeControls(in.Content))
	case "info":
		p.paint(codeBlue, "ℹ️ "+escapeControls(in.Content))
	case "table":
		p.writeTable(in)
	case "json":
		if err := p.writeJSON(in.Content); err != nil {
			return toolkit.Result{}, api.Errorf(api.CodeInvalid, "format output: content is not valid JSON: %v", err)
		}
	default:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "format output: unknown format_type %q", in.FormatType).
			WithHint("must be success, error, warning, info, table or json")
	}
	return toolkit.AnswerJSON(formatted{p.String(), in.FormatType, in.Content, p.codes}), nil
}

// escapeControls makes control characters visible, so that no text can control the terminal showing
// it.
func escapeControls(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20:
			b.WriteString("^" + string(r+'@'))
		case r == 0x7f:
			b.WriteString("^?")
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cellText escapes text and puts it on one line.
func cellText(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(escapeControls(s))
}

// writeTable writes content, then headers and rows in columns. Missing cells are empty.
func (p *painter) writeTable(in formatInput) {
	columns := len(in.TableHeaders)
	for _, row := range in.TableRows {
		columns = max(columns, len(row))
	}
	widths := make([]int, columns)
	grid := make([][]string, 1+len(in.TableRows))
	for y, row := range slices.Insert(slices.Clone(in.TableRows), 0, in.TableHeaders) {
		grid[y] = make([]string, columns)
		for x, text := range row {
			grid[y][x] = cellText(text)
			widths[x] = max(widths[x], displaywidth.String(grid[y][x]))
		}
	}
	// Escape before measuring: an escaped character is wider.
	var lines []string
	if in.Content != "" {
		lines = append(lines, escapeControls(in.Content))
	}
	if len(in.TableHeaders) > 0 {
		head := &painter{}
		head.paint(codeBold, tableLine(grid[0], widths, " │ ", " "))
		p.codes = head.codes
		lines = append(lines, head.String(), tableLine(make([]string, columns), widths, "─┼─", "─"))
	}
	for _, row := range grid[1:] {
		lines = append(lines, strings.TrimRight(tableLine(row, widths, " │ ", " "), " "))
	}
	p.WriteString(strings.Join(lines, "\n"))
}

// tableLine pads each cell to its column's width and joins them.
func tableLine(row []string, widths []int, between, fill string) string {
	cells := make([]string, len(row))
	for x, text := range row {
		cells[x] = text + strings.Repeat(fill, widths[x]-displaywidth.String(text))
	}
	return strings.Join(cells, between)
}

// jsonToken matches the strings, numbers and words of valid JSON.
var jsonToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-0-9tfn][^,\]}\s]*`) })

// writeJSON writes a JSON value indented, with a colour for each kind of value.
func (p *painter) writeJSON(content string) error {
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(strings.TrimSpace(content)), "", "  "); err != nil {
		return err
	}
	text, done := indented.String(), 0
	for _, at := range jsonToken().FindAllStringIndex(text, -1) {
		p.WriteString(text[done:at[0]])
		token := text[at[0]:at[1]]
		done = at[1]
		// json.Indent has validated the text, so the first character determines each token.
		colour := codeYellow
		switch token[0] {
		case '"':
			colour = codeGreen
			if strings.HasPrefix(text[done:], ":") {
				colour = codeBlue
			}
		case 'n':
			colour = codePink
		case 't', 'f':
			colour = codeCyan
		}
		p.paint(colour, escapeControls(token))
	}
	p.WriteString(text[done:])
	return nil
}
