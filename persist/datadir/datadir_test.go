package datadir

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

func TestNamesListsEveryConstant(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "datadir.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := Names()
	for _, decl := range file.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST || len(consts.Specs) < 3 { // the first group
			continue
		}
		if len(consts.Specs) != len(names) {
			t.Errorf("Names has %d of %d constants", len(names), len(consts.Specs))
		}
		for _, spec := range consts.Specs {
			name, err := strconv.Unquote(spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil || !slices.Contains(names, name) {
				t.Errorf("%s is not among Names (%v)", name, err)
			}
		}
	}
}

func TestOursRecognisesCompanionFiles(t *testing.T) {
	for _, name := range []string{"history.db-wal", "history.db-shm", "history.db.bad-wal", "history.db.bad.2", "audit.jsonl.1", "engine.log.old",
		"env.json.bad", ".tips.json123456", ".persist-check-77-1.tmp", "page", "tmux"} {
		if !Ours(name) {
			t.Errorf("%s is not recognised", name)
		}
	}
	for _, name := range []string{"", ".", "notes.log", "pages", "page.txt", ".page", "work.lock", "x.sock", ".persist-x", "shell.sh", "hub-and-spoke", "history.dbx"} {
		if Ours(name) {
			t.Errorf("%s counts as Tandem's", name)
		}
	}
}
