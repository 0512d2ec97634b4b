package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A reworded message must not change what the program does. So no code reads an error's text: it
// tests the error's code, its reason or its type.
//
// errorTexts lists the exceptions as file and function, each with its reason.
var errorTexts = map[string]string{
	"engine/api/error.go IsEnding":           "engines up to 0.2.0 send no reason",
	"engine/api/wire/request.go DecodeError": "engines up to 0.2.0 have no code for an unknown operation",

	"engine/workspace/files/error.go classifyError": "os does not export this error",
	"engine/remote/fleet/conn.go explainError":      "the NATS client has no type for some errors of its server",
	"ui/cli/setup/json.go convertParseError":        "hujson has the position only in its text",
	"engine/api/input.go inputError":                "encoding/json has no type for an unknown field; only the wording depends on it",
	"persist/diag/toml.go Syntax":                   "the TOML decoder has no type for a missing quote; only the wording depends on it",

	"engine/agent/mcp/keyring.go handleReload": "it prints the same text only once",
	"engine/remote/hosts/link.go update":       "it announces a new text",
	"panes/preview/paint.go classOfToken":      "Error is a kind of token",

	"engine/agent/coding/rules.go reasonSuffix":                     shortens,
	"engine/api/find.go Compile":                                    shortens,
	"engine/agent/approval/current.go reportFault":                  shortens,
	"engine/workspace/files/grep.go compilePattern":                 shortens,
	"engine/workspace/files/json.go explainJSON":                    shortens,
	"engine/agent/mcp/profiles/native/transcript.go readTranscript": shortens,
	"engine/agent/mcp/profiles/plugin/files.go readJSON":            shortens,
	"engine/agent/mcp/toolkit/status.go StartFailure":               shortens,
	"engine/system/sandbox/profile.go explainJSON":                  shortens,
	"panes/files/folder.go errorReason":                             shortens,
	"panes/files/transfers/result.go failureText":                   shortens,
	"persist/config/decode.go decodeReadable":                       shortens,
	"persist/histdb/history.go classifyError":                       shortens,
	"ui/cli/settings/settings.go Heading":                           shortens,
	"ui/cli/setup/plan.go States":                                   "it joins the lines of a message",
	"ui/cli/setup/toml.go setText":                                  shortens,
}

// shortens is the reason of a function that leaves out a part of a message for display.
const shortens = "it shortens a message for display"

func TestNoCodeReadsAnErrorsText(t *testing.T) {
	found := map[string]bool{}
	for _, files := range packageFiles(t) {
		for _, file := range files {
			for _, read := range errorTextReads(t, file, nil) {
				name := filepath.ToSlash(file) + " " + read.function
				if found[name] = true; errorTexts[name] == "" {
					t.Errorf("%s:%d: %s reads an error's text: use errors.Is with an api.Code or api.Reason, or errors.As", file, read.line, read.function)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(errorTexts)) {
		if !found[name] {
			t.Errorf("%s reads no error's text; remove it from errorTexts", name)
		}
	}
}

// A copy made by WithMessage keeps the reason and the hint, a new error does not.
func TestNoErrorIsRebuiltFromItsCode(t *testing.T) {
	for _, files := range packageFiles(t) {
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if rebuildsError(parsed) {
				t.Errorf("%s makes an error from another one's code: use WithMessage", file)
			}
		}
	}
	for source, want := range map[string]bool{
		`var _ = api.Errorf(e.Code, "gone")`:                true,
		`var _ = api.Errorf(api.AsError(err).Code, "gone")`: true,
		`var _ = api.Errorf(api.CodeNotFound, "gone")`:      false,
		`var _ = e.WithMessage("gone")`:                     false,
	} {
		if rebuildsError(parseSource(t, source)) != want {
			t.Errorf("%s: found %v, want %v", source, !want, want)
		}
	}
}

// rebuildsError reports whether a file calls Errorf with the code of another error.
func rebuildsError(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
			f, _ := call.Fun.(*ast.SelectorExpr)
			arg, _ := call.Args[0].(*ast.SelectorExpr)
			found = found || f != nil && f.Sel.Name == "Errorf" && arg != nil && arg.Sel.Name == "Code"
		}
		return true
	})
	return found
}

func TestReadsOfAnErrorsTextAreFound(t *testing.T) {
	for _, bad := range []string{
		`_ = err.Error() == "gone"`,
		`_ = p.rec.Error == gone`,
		`_ = "gone" != e.Message`,
		`_ = (errors.Unwrap(err).Error()) == gone`,
		`_ = []byte(e.Message)[0] == 'x'`,
		`_ = err.Error()[:4] == "gone"`,
		`_ = "x: " + err.Error() == gone`,
		`_ = strings.HasSuffix(err.Error(), "gone")`,
		`_ = strings.Contains(strings.ToLower(e.Message), "gone")`,
		`_ = bytes.HasPrefix([]byte(err.Error()), gone)`,
		`_ = slices.Contains(all, err.Error())`,
		`_ = fmt.Sprint(err) == "gone"`,
		`_ = strings.HasPrefix(fmt.Sprintf("%v", readErr), "gone")`,
		`fmt.Sscanf(err.Error(), "line %d", &line)`,
		`_ = pattern.MatchString(e.Message)`,
		`_ = pattern.FindStringSubmatch(err.Error())`,
		`_ = pattern().ReplaceAllString(err.Error(), "")`,
		`_ = known[err.Error()]`,
		`text := err.Error(); if text == "gone" {}`,
		`var text = e.Message; _ = strings.Fields(text)`,
		`text := ""; text = e.Message; text += "."; _ = strings.Split(text, ":")`,
		`switch err.Error() { case "gone": }`,
		`switch text := e.Message; text { case "gone": }`,
		`switch text { case err.Error(): }`,
		`switch { case e.Message == "gone": }`,
		`f := func() bool { return err.Error() == "gone" }; f()`,
	} {
		if len(errorTextReads(t, "bad.go", inFunction(bad))) == 0 {
			t.Errorf("%s: not found", bad)
		}
	}
	for _, good := range []string{
		`_ = errors.Is(err, api.CodeNotFound)`,
		`_ = api.AsError(err).Reason == api.ReasonIsFolder`,
		`text := err.Error(); fmt.Println(text)`,
		`http.Error(w, err.Error(), 400)`,
		`_ = len(e.Message)`,
		`_ = strings.Join([]string{"a", err.Error()}, ", ")`,
		`text := e.Message; { text := "x"; _ = text == "y" }; _ = text`,
		`_ = show(err.Error()) == 3`,
		`_ = p.rec.Error != "" && answer.Error == nil`,
	} {
		if reads := errorTextReads(t, "good.go", inFunction(good)); len(reads) > 0 {
			t.Errorf("%s: found as %v", good, reads)
		}
	}
}

// inFunction returns a file with statements in its only function.
func inFunction(statements string) []byte {
	return fmt.Appendf(nil, "package p\nfunc f() {\n%s\n}\n", statements)
}

// An errorTextRead is a place that reads an error's text.
type errorTextRead struct {
	function string
	line     int
}

// errorTextReads finds comparisons, switches, indexes and matching calls on the text of an error:
// the result of Error(), a field named Message or Error, an error printed by fmt, and local
// variables set from one of them. The text of the file is src, if not nil.
func errorTextReads(t *testing.T, file string, src []byte) (reads []errorTextRead) {
	t.Helper()
	fset := token.NewFileSet()
	var text any
	if src != nil {
		text = src
	}
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	// The objects tell variables of the same name apart. What other files declare stays unknown.
	objects := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noImporter{}, Error: func(error) {}}
	_, _ = config.Check("file", fset, []*ast.File{parsed}, objects)
	for _, d := range parsed.Decls {
		name := "package variables"
		if f, ok := d.(*ast.FuncDecl); ok {
			name = f.Name.Name
		}
		texts := errorTextVariables{objects, map[types.Object]bool{}}
		ast.Inspect(d, func(n ast.Node) bool {
			texts.note(n)
			if texts.reads(n) {
				reads = append(reads, errorTextRead{name, fset.Position(n.Pos()).Line})
			}
			return true
		})
	}
	return reads
}

// A noImporter imports nothing.
type noImporter struct{}

func (noImporter) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("import %s: not needed", path)
}

// errorTextVariables are the local variables with the text of an error.
type errorTextVariables struct {
	objects *types.Info
	known   map[types.Object]bool
}

// note adds the variables that a statement sets to the text of an error.
func (v errorTextVariables) note(n ast.Node) {
	if s, ok := n.(*ast.SwitchStmt); ok && s.Init != nil {
		n = s.Init // the tag comes before it in reads
	}
	set := func(to, from ast.Expr) {
		if name, ok := to.(*ast.Ident); ok && v.isText(from) && v.objects.ObjectOf(name) != nil {
			v.known[v.objects.ObjectOf(name)] = true
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == len(n.Rhs) {
			for i := range n.Lhs {
				set(n.Lhs[i], n.Rhs[i])
			}
		}
	case *ast.ValueSpec:
		if len(n.Names) == len(n.Values) {
			for i := range n.Names {
				set(n.Names[i], n.Values[i])
			}
		}
	}
}

// reads reports whether a node reads the text of an error.
func (v errorTextVariables) reads(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return (n.Op == token.EQL || n.Op == token.NEQ) && (v.isText(n.X) || v.isText(n.Y)) && !isEmpty(n.X) && !isEmpty(n.Y)
	case *ast.SwitchStmt:
		return n.Tag != nil && v.isText(n.Tag) || slices.ContainsFunc(n.Body.List, v.isCase)
	case *ast.IndexExpr:
		return v.isText(n.Index)
	case *ast.CallExpr:
		return matchesText(n.Fun) && slices.ContainsFunc(n.Args, v.isText)
	}
	return false
}

// isEmpty reports whether an expression is nil or an empty string: comparing with it asks only
// whether there is an error.
func isEmpty(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value == `""`
	case *ast.Ident:
		return e.Name == "nil"
	}
	return false
}

// isCase reports whether a clause of a switch compares with the text of an error.
func (v errorTextVariables) isCase(clause ast.Stmt) bool {
	return slices.ContainsFunc(clause.(*ast.CaseClause).List, v.isText)
}

// matchesText reports whether a function examines the text that it is given, as those of package
// strings and the methods of a regular expression do. Those that only compose a text do not.
func matchesText(function ast.Expr) bool {
	f, ok := function.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	name := f.Sel.Name
	switch of, _ := f.X.(*ast.Ident); {
	case of != nil && (of.Name == "strings" || of.Name == "bytes"):
		return !slices.Contains([]string{"Join", "NewReader", "ToValidUTF8"}, name)
	case of != nil && of.Name == "slices":
		return strings.HasPrefix(name, "Contains") || strings.HasPrefix(name, "Index")
	}
	return slices.ContainsFunc([]string{"Match", "Find", "ReplaceAll", "Sscan"}, func(verb string) bool { return strings.HasPrefix(name, verb) })
}

// isText reports whether an expression is the text of an error, or a part or form of it.
func (v errorTextVariables) isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return v.isText(e.X)
	case *ast.Ident:
		return v.known[v.objects.ObjectOf(e)]
	case *ast.SelectorExpr:
		return e.Sel.Name == "Message" || e.Sel.Name == "Error" // of a record or an answer
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (v.isText(e.X) || v.isText(e.Y))
	case *ast.SliceExpr:
		return v.isText(e.X)
	case *ast.IndexExpr:
		return v.isText(e.X)
	case *ast.CallExpr:
		return v.returnsText(e)
	}
	return false
}

// returnsText reports whether a call returns the text of an error: Error(), a conversion of it, or
// a function of strings or fmt with it.
func (v errorTextVariables) returnsText(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		of, _ := f.X.(*ast.Ident)
		switch {
		case f.Sel.Name == "Error" && len(call.Args) == 0:
			return true
		case of != nil && of.Name == "fmt" && strings.HasPrefix(f.Sel.Name, "Sprint"):
			return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return namesError(arg) || v.isText(arg) })
		case of != nil && of.Name == "strings":
			return slices.ContainsFunc(call.Args, v.isText)
		}
	case *ast.Ident:
		return f.Name == "string" && v.isText(call.Args[0])
	case *ast.ArrayType:
		return v.isText(call.Args[0])
	}
	return false
}

// namesError reports whether an expression is a variable named like an error.
func namesError(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && (name.Name == "err" || strings.HasSuffix(name.Name, "Err"))
}
