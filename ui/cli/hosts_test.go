package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/ui/cli/machines"
)

func TestMachinesPageListsCommandsWithoutHostFlag(t *testing.T) {
	text, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "These commands work on this machine only: ")
	list, _, end := strings.Cut(list, ".\n")
	if !found || !end {
		t.Fatal("docs/machines.md does not list the commands")
	}
	var listed, want []string
	for _, name := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(list, -1) {
		listed = append(listed, name[1])
	}
	for _, c := range newRoot(Options{Version: "1"}).Commands() {
		if !c.Hidden && machines.ReachOf(c) == machines.Here {
			want = append(want, c.Name())
		}
	}
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("it lists\n%s, want\n%s", strings.Join(listed, " "), strings.Join(want, " "))
	}
}
