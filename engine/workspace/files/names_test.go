package files

import (
	"os"
	"slices"
	"testing"
	"time"
)

// listNames returns the names in a listing.
func listNames(t *testing.T, g *testTree, r ListRequest) (names []string, omitted int) {
	t.Helper()
	out, err := g.List(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range out.Entries {
		names = append(names, e.Name)
	}
	return names, out.Omitted
}

func TestListFiltersNamesByWords(t *testing.T) {
	g := newTestTree(t)
	for _, name := range []string{"Needle one", "hay", "needle two", ".needle", "the NEEDLE three", "\xffneedle", "ÄRGER needle"} {
		g.addFile(name, "")
	}
	g.Names = &Names{}
	for _, c := range []struct {
		r       ListRequest
		want    []string
		omitted int
	}{
		{ListRequest{Match: "needle t"}, []string{"needle two", "the NEEDLE three"}, 0},
		{ListRequest{Match: "NEEDLE !t"}, []string{"Needle one", "ÄRGER needle", "\xffneedle"}, 0},
		{ListRequest{Match: "ärger"}, []string{"ÄRGER needle"}, 0},
		{ListRequest{Match: "needle", Hidden: true, Limit: 2}, []string{".needle", "Needle one"}, 4},
		{ListRequest{Match: "needle", Hidden: true, Limit: 2, After: "Needle one"}, []string{"needle two", "the NEEDLE three"}, 2},
		{ListRequest{Match: "nothing"}, nil, 0},
		{ListRequest{Match: " ! "}, []string{"Needle one", "hay", "needle two", "the NEEDLE three", "ÄRGER needle", "\xffneedle"}, 0},
	} {
		if got, omitted := listNames(t, g, c.r); !slices.Equal(got, c.want) || omitted != c.omitted {
			t.Errorf("%+v lists %q and leaves out %d, not %q and %d", c.r, got, omitted, c.want, c.omitted)
		}
	}
}

func TestListFindsMatchInJustChangedFolder(t *testing.T) {
	g := newTestTree(t)
	g.Names = &Names{}
	at := time.Now().Add(-time.Hour)
	for _, name := range []string{"new one", "new two"} {
		g.addFile(name, "")
		if err := os.Chtimes(g.root, at, at); err != nil {
			t.Fatal(err)
		}
		got, _ := listNames(t, g, ListRequest{Match: "new"})
		if !slices.Contains(got, name) {
			t.Errorf("%q is not in %q", name, got)
		}
		at = at.Add(time.Second)
	}
	now := time.Now().Add(time.Minute) // the next change may get the same time
	for _, name := range []string{"new three", "new four"} {
		g.addFile(name, "")
		if err := os.Chtimes(g.root, now, now); err != nil {
			t.Fatal(err)
		}
		if got, _ := listNames(t, g, ListRequest{Match: "new"}); !slices.Contains(got, name) {
			t.Errorf("%q is not in %q", name, got)
		}
	}
}
