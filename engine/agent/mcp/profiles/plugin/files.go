package plugin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// maxReadText is the maximum size of text returned by read, in bytes.
const maxReadText = 50 << 10

type ReadInput struct {
	Path   string `json:"path"`
	Offset *int64 `json:"offset,omitempty" default:"1" min:"1" doc:"first line"`
	Limit  *int64 `json:"limit,omitempty" default:"2000"`
}

func (in ReadInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Paths: []string{f.Folder(f.ParsePath(in.Path))}}
}

// maxImage is the maximum size of an image in base64; models accept no larger ones.
const maxImage = 5 << 20

func readFile(ctx context.Context, f *toolkit.Agent, in ReadInput) (toolkit.Result, error) {
	ask := api.FilesReadInput{Unbounded: f.Options.Unbounded}
	ask.FileScope, ask.Path = f.PathInScope(in.Path)
	switch {
	case in.Offset != nil && *in.Offset < 1:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "read %s: offset is a line number from 1", in.Path)
	case in.Limit != nil && *in.Limit < 1:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "read %s: limit must be at least 1", in.Path)
	}
	ask.Offset, ask.Limit = toolkit.ValueOr(in.Offset, 0), toolkit.ValueOr(in.Limit, 0)
	out, err := api.FilesRead.Call(ctx, f.Engine, ask)
	switch {
	case isNotFile(err):
		return toolkit.Text("Path is not a file.").AsFailure(), nil
	case err != nil:
		return toolkit.Result{}, err
	case out.Kind == "image" && base64.StdEncoding.EncodedLen(int(out.Size)) > maxImage:
		return toolkit.Textf("Cannot show %s: the image is %s in base64; a result holds at most %s.",
			in.Path, sizeText(int64(base64.StdEncoding.EncodedLen(int(out.Size)))), sizeText(maxImage)).AsFailure(), nil
	case out.Kind == "image" && len(out.Data) > 0:
		return toolkit.Result{Content: []sdk.Content{&sdk.ImageContent{Data: out.Data, MIMEType: out.MIME}}}, nil
	case out.Kind != "text":
		return toolkit.Textf("Cannot show %s: it is a binary file (%s).", in.Path, sizeText(out.Size)).AsFailure(), nil
	case out.FirstLine == 0 && ask.Offset > 1:
		return toolkit.Textf("Offset %d is beyond end of file (%d lines total)", ask.Offset, out.TotalLines).AsFailure(), nil
	}
	text := out.Text + readHint(f.ParsePath(in.Path), out, f.Options.Unbounded)
	if text == "" && !f.UsesPluginFormat() {
		text = "[empty file]"
	}
	return toolkit.Text(text), nil
}

// readHint describes the omitted part of a file, and how to read it.
func readHint(path string, out api.FilesReadOutput, unbounded bool) string {
	bound := sizeText(maxReadText)
	if unbounded {
		bound = "16.0MB"
	}
	next := out.LastLine + 1
	var hint string
	switch out.Cut {
	case "line":
		return fmt.Sprintf("[Line %d is %s, exceeds %s limit. Use exec: sed -n '%dp' %s | head -c %d]",
			out.FirstLine, sizeText(out.LineBytes), bound, out.FirstLine, toolkit.QuoteForShell(path), maxReadText)
	case "lines":
		hint = fmt.Sprintf("[Showing lines %d-%d of %d. Use offset=%d to continue.]", out.FirstLine, out.LastLine, out.TotalLines, next)
	case "bytes":
		hint = fmt.Sprintf("[Showing lines %d-%d of %d (%s limit). Use offset=%d to continue.]",
			out.FirstLine, out.LastLine, out.TotalLines, bound, next)
	case "limit":
		hint = fmt.Sprintf("[%d more lines in file. Use offset=%d to continue.]", out.TotalLines-out.LastLine, next)
	default:
		return ""
	}
	return "\n" + hint // the last line shown has its own line end
}

// sizeText formats a number of bytes.
func sizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fKB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
}

type jsonInput struct {
	Path    string `json:"path"`
	Pointer string `json:"pointer,omitempty" doc:"part of it: /a/0"`
}

func (in jsonInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Paths: []string{f.Folder(f.ParsePath(in.Path))}}
}

// readExactJSON returns the operation files.read_json with a result that keeps the value as written
// in the file. Decoding the value would round numbers and reorder keys.
func readExactJSON() api.Operation[api.FilesReadJSONInput, exactJSON] {
	return api.NewOperation[api.FilesReadJSONInput, exactJSON](api.FilesReadJSON.Name, "", "", api.Row[api.FilesReadJSONInput]{})
}

type exactJSON struct {
	Value json.RawMessage `json:"value"`
}

func readJSON(ctx context.Context, f *toolkit.Agent, in jsonInput) (toolkit.Result, error) {
	scope, path := f.PathInScope(in.Path)
	out, err := readExactJSON().Call(ctx, f.Engine, api.FilesReadJSONInput{FileScope: scope, Path: path})
	if err != nil {
		if errors.Is(err, api.ReasonNotJSON) {
			why := strings.TrimPrefix(api.AsError(err).Message, "invalid JSON in "+scope.In(path)+": ")
			return toolkit.Textf("Invalid JSON in %s: %s", in.Path, why).AsFailure(), nil
		}
		return toolkit.Result{}, rewordNotFile(err)
	}
	part, err := resolvePointer(out.Value, in.Pointer)
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(truncateJSON(f, string(part))), nil
}

// truncateJSON limits JSON to the size of a result.
func truncateJSON(f *toolkit.Agent, text string) string {
	if f.Options.Unbounded {
		return text
	}
	return toolkit.HeadAndTail(text, maxReadText, "pointer=/KEY/0 gives a part")
}

// resolvePointer returns the part of a JSON value at a pointer (RFC 6901).
func resolvePointer(value json.RawMessage, pointer string) (json.RawMessage, error) {
	at, rest, ok := strings.Cut(pointer, "/")
	if at != "" {
		return nil, api.Errorf(api.CodeInvalid, "read JSON: pointer %q does not begin with /", toolkit.Abbreviate(pointer))
	}
	for ok {
		at, rest, ok = strings.Cut(rest, "/")
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(at)
		var members map[string]json.RawMessage
		var elements []json.RawMessage
		// Decode one level at a time: values off the path stay as they are.
		found := json.Unmarshal(value, &members) == nil
		if found {
			value, found = members[name]
		} else if i, err := strconv.Atoi(name); err == nil && json.Unmarshal(value, &elements) == nil {
			if found = i >= 0 && i < len(elements); found {
				value = elements[i]
			}
		}
		if !found {
			return nil, api.Errorf(api.CodeNotFound, "read JSON: nothing at %q of pointer %q", toolkit.Abbreviate(name), toolkit.Abbreviate(pointer))
		}
	}
	return value, nil
}

// isNotFile reports whether err is about a path that leads to something other than a regular file.
func isNotFile(err error) bool {
	return errors.Is(err, api.ReasonNotFile) || errors.Is(err, api.ReasonIsFolder)
}

// rewordNotFile rewords the error for a path that is not a file as this profile defines it.
func rewordNotFile(err error) error {
	if isNotFile(err) {
		return api.Errorf(api.CodeInvalid, "Path is not a file.")
	}
	return err
}

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Append  bool   `json:"append,omitempty"`
}

func (in writeInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Paths: []string{f.Folder(f.ParsePath(in.Path))}}
}

func writeFile(ctx context.Context, f *toolkit.Agent, in writeInput) (toolkit.Result, error) {
	scope, path := f.PathInScope(in.Path)
	out, err := api.FilesWrite.Call(ctx, f.Engine, api.FilesWriteInput{
		FileScope: scope, Path: path, Text: in.Content, Append: in.Append,
	})
	if err != nil {
		return toolkit.Result{}, rewordNotFile(err)
	}
	verb := "Wrote"
	if in.Append {
		verb = "Appended"
	}
	return toolkit.Textf("%s %d bytes to %s.", verb, out.Written, in.Path), nil
}

type EditInput struct {
	Path  string     `json:"path"`
	Edits []editStep `json:"edits"`
}

type editStep struct {
	Search     string `json:"search"`
	Replace    string `json:"replace"`
	ReplaceAll bool   `json:"replaceAll,omitempty"`
}

func (in EditInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Paths: []string{f.Folder(f.ParsePath(in.Path))}}
}

func editFile(ctx context.Context, f *toolkit.Agent, in EditInput) (toolkit.Result, error) {
	var ask api.FilesEditInput
	ask.FileScope, ask.Path = f.PathInScope(in.Path)
	for _, e := range in.Edits {
		ask.Edits = append(ask.Edits, api.FileEdit(e))
	}
	out, err := api.FilesEdit.Call(ctx, f.Engine, ask)
	if err != nil {
		return toolkit.Result{}, rewordNotFile(rewordNotApplied(err))
	}
	parts := make([]string, len(out.Replacements))
	for i, n := range out.Replacements {
		plural := "s"
		if n == 1 {
			plural = ""
		}
		parts[i] = fmt.Sprintf("edit %d: %d replacement%s", i+1, n, plural)
	}
	return toolkit.Textf("Updated %s (%s).", in.Path, strings.Join(parts, ", ")), nil
}

// rewordNotApplied makes a sentence of the reason an edit was not applied.
func rewordNotApplied(err error) error {
	e := api.AsError(err)
	switch e.Reason {
	case api.ReasonEditAmbiguous:
		e = e.WithHint("search for more of the text around it, or pass replaceAll")
	case api.ReasonEditEmpty, api.ReasonEditNotFound:
	default:
		return err
	}
	return e.WithMessage("%s", sentence(e.Message))
}

// sentence returns a message with a capital letter and a full stop.
func sentence(message string) string { return strings.ToUpper(message[:1]) + message[1:] + "." }

type outputInput struct {
	Name    string `json:"name" doc:"no folder or extension"`
	Content string `json:"content"`
	Format  string `json:"format,omitempty" enum:"markdown,json" default:"markdown"`
}

func writeOutput(ctx context.Context, f *toolkit.Agent, in outputInput) (toolkit.Result, error) {
	if in.Name != "" && strings.Trim(in.Name, " .") == "" {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "write report %q: the name consists only of dots and blanks", in.Name).
			WithHint("give a word or two saying what the report is about")
	}
	out, err := api.FilesReport.Call(ctx, f.Engine, api.FilesWriteOutputInput(in))
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(out.Path), nil
}
